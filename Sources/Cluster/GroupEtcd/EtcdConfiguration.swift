import GroupSystemCalls

/// The endpoints of an etcd cluster, and how to speak with them.
package struct EtcdConfiguration: Sendable, Equatable {
    /// The members' addresses, like `http://127.0.0.1:2379`, in the order in which they are tried.
    package private(set) var endpoints: [String]
    /// The user, where etcd has users. Over `http` the password goes through the network in plain.
    package var user: String?
    /// The file whose first line is the password. It is read at each authentication, and refused if others than its
    /// owner may read it.
    package var passwordFile: String?
    /// The file with the certificates of the authority that signs the endpoints', instead of the system's authorities.
    package var authorityFile: String?
    /// How long a try at one endpoint may bring no progress. A large request has more time, by its size. An authentication has four
    /// times as long, because etcd lets it take long (bcrypt).
    package var requestLimit: Duration = .milliseconds(500)

    /// The largest answer that is read, in bytes.
    package var largestAnswer = EtcdConnection.largestResponse

    /// Checks the endpoints: `http` or `https`, a host, perhaps a port, and nothing else. Error: `unreachable`
    package init(endpoints: [String]) throws(EtcdFailure) {
        if endpoints.isEmpty { throw .unreachable("no endpoint is named") }
        if endpoints.count > Self.mostEndpoints { throw .unreachable("more than \(Self.mostEndpoints) endpoints") }
        var checked: [String] = []
        for endpoint in endpoints {
            guard let address = Self.checked(endpoint) else {
                throw .unreachable("'\(endpoint.prefix(200))' is no endpoint like http://127.0.0.1:2379")
            }
            checked.append(address)
        }
        self.endpoints = checked
    }

    /// Puts the first endpoint at the end: for a new watch, after one has failed.
    package mutating func rotate() { endpoints.append(endpoints.removeFirst()) }

    private static let mostEndpoints = 64

    /// Returns an endpoint without a slash at its end; nil if it is none.
    private static func checked(_ endpoint: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: endpoint.hasPrefix) else { return nil }
        var rest = endpoint.utf8.dropFirst(scheme.utf8.count)
        if rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
        guard !rest.isEmpty, rest.count <= 300, rest.allSatisfy(isOfHost) else { return nil }
        let host: Substring.UTF8View
        var port: Substring.UTF8View?
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            let after = rest[rest.index(after: end)...]
            if !after.isEmpty {
                guard after.first == UInt8(ascii: ":") else { return nil }
                port = after.dropFirst()
            }
        } else {
            let parts = rest.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count <= 2, let first = parts.first else { return nil }
            host = first
            if parts.count == 2 { port = parts[1] }
        }
        if host.isEmpty { return nil }
        if let port { guard let number = UInt16(String(Substring(port))), number > 0 else { return nil } }
        return scheme + String(Substring(rest))
    }

    /// Letters, digits, and what else names and addresses have.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
        default: false
        }
    }

    /// Reads the password. Error: `denied`
    func password() throws(EtcdFailure) -> String {
        guard let passwordFile else { throw .denied("a user is named, and no password file") }
        let status: FileStatus
        let content: [UInt8]
        do throws(Errno) {
            let file = try FileDescriptor.open(path: Array(passwordFile.utf8), [.reading, .nonBlocking])
            status = try file.status()
            // Anything else may wait, or have no end.
            content = status.isRegularFile ? try file.readAll(limit: Self.longestPassword + 1) : []
        } catch {
            throw .denied("the password file \(passwordFile) cannot be read: \(error)")
        }
        if status.permissions & 0o077 != 0 {
            throw .denied("others than its owner may open the password file \(passwordFile); run chmod 600")
        }
        let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        if line.isEmpty { throw .denied("the password file \(passwordFile) has no password in its first line") }
        guard line.count <= Self.longestPassword, let password = String(validating: line, as: UTF8.self) else {
            throw .denied("the first line of the password file \(passwordFile) is no password")
        }
        return password
    }

    private static let longestPassword = 1_024
}
