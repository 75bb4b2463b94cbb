#if Secrets
extension GroupSecrets {
    /// The place of a secret, without the secret: for records, messages and settings that other programs of the group read.
    public struct Reference: Codable, Hashable, Sendable {
        /// The group's identifier.
        public let group: String
        /// The secret's name.
        public let name: String

        /// Names a secret. Whether the names can be used is checked with the call that loads the secret.
        public init(group: String, name: String) { (self.group, self.name) = (group, name) }

        /// Loads the secret that the reference names. See `GroupSecrets.secret(for:timeout:)`.
        public func secret(timeout: Duration? = GroupSecrets.timeout) async throws(SecretError) -> [UInt8]? {
            try await GroupSecrets(group: group).secret(for: name, timeout: timeout)
        }

        /// Loads the secret, blocking the thread. See `GroupSecrets.secret(for:timeout:)`.
        public func secretBlocking(timeout: Duration? = GroupSecrets.timeout) throws(SecretError) -> [UInt8]? {
            try GroupSecrets(group: group).blocking.secret(for: name, timeout: timeout)
        }
    }

    /// Returns a reference to a secret of this group. The secret need not exist yet.
    public func reference(to name: String) -> Reference { Reference(group: group, name: name) }
}
#endif
