import GroupSystemCalls

enum HostIdentity {
    /// The identifier of this process.
    static let process = processIdentifier()
}
