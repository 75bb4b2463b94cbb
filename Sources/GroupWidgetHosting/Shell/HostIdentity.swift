import GroupSystemCalls

enum HostIdentity {
    /// This process.
    static let process = processIdentifier()
}
