import GroupContainer

extension Transfer {
    /// A field of a transfer's requests whose value has a secret of the group, such as `Authorization: Bearer …`. The
    /// record has the secret's name (see the product `GroupSecrets`); the secret is loaded for each request, and sent
    /// only to the scheme, host and port of the transfer's own address, not to those of a redirection.
    public struct Field: Codable, Hashable, Sendable {
        /// The name of the field.
        public let name: String
        /// What is before the secret, such as `Bearer `.
        public let prefix: String
        /// The name of the secret.
        public let secret: String

        /// Names a field and its secret. Whether they can be used is checked when the transfer is queued.
        public init(_ name: String, prefix: String = "", secret: String) {
            self.name = name
            self.prefix = prefix
            self.secret = secret
        }

        /// The most fields of a transfer.
        static let most = 16
        private static let longest = 255
        /// The fields that the program sets.
        private static let reserved: Set = [
            "accept-encoding", "connection", "content-length", "expect", "host", "if-range", "range", "te", "trailer",
            "transfer-encoding", "upgrade",
        ]

        /// Returns what is wrong; nil if nothing is. A name is a token (RFC 9110, 5.6.2).
        var fault: String? {
            if !(1...Self.longest).contains(name.utf8.count) || !name.utf8.allSatisfy(Self.isToken) {
                return "the name of a field has letters, digits and some signs, without spaces"
            }
            if Self.reserved.contains(name.lowercased()) { return "the field \(name) is set by the program" }
            if prefix.utf8.count > Self.longest || !prefix.utf8.allSatisfy(Self.isText) {
                return "the text before a secret is printable ASCII"
            }
            return secret.isEmpty ? "a field needs the name of its secret" : nil
        }

        /// Returns the line of a request; nil if the secret has bytes that a field cannot have.
        package func line(_ secret: [UInt8]) -> String? {
            secret.allSatisfy(Self.isText) ? "\(name): \(prefix)\(String(decoding: secret, as: UTF8.self))" : nil
        }

        private static func isText(_ byte: UInt8) -> Bool { 0x20...0x7E ~= byte || byte == 0x09 }

        private static func isToken(_ byte: UInt8) -> Bool {
            0x21...0x7E ~= byte && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
        }
    }

    /// Checks the fields of a new transfer.
    static func check(_ fields: [Field], _ operation: String, _ container: Container) throws(CoordinationError) {
        if fields.isEmpty { return }
        var faults = fields.compactMap(\.fault)
        if fields.count > Field.most { faults.append("a transfer has at most \(Field.most) fields") }
        if container.groupIdentifier == nil {
            faults.append("the container has no group identifier, by which secrets are found")
        }
        guard let fault = faults.first else { return }
        throw CoordinationError(.invalidArgument, operation: operation, item: fields[0].name, reason: fault)
    }
}
