import SystemCalls

enum HostIdentity {
    /// This process.
    static let process = processIdentifier()
}
