import GroupSystemCalls

/// The endpoints of an etcd cluster, and the settings of requests to them.
package struct EtcdConfiguration: Sendable, Equatable {
    /// The members' addresses, like `http://127.0.0.1:2379`, in the order in which they are tried.
    package private(set) var endpoints: [String]
    /// The user, if etcd has users. Over `http` the password goes through the network in plain text.
    package var user: String?
    /// The file whose first line is the password. The file is read at each authentication, and refused if it gives
    /// users other than its owner any permission.
    package var passwordFile: String?
    /// A file with the certificates of the authorities that are trusted for endpoints, in place of the system's.
    package var authorityFile: String?
    /// How long a request to one endpoint may make no progress. A large request has more time, by its size. An
    /// authentication has four times as long, because etcd hashes the password with a slow function (bcrypt), and the
    /// start of a watch has as long as that.
    package var requestLimit: Duration = .milliseconds(500)

    /// The largest answer that is read, in bytes.
    package var largestAnswer = EtcdConnection.largestResponse

    /// Creates a configuration with 1 to 64 endpoints. Each endpoint is `http` or `https`, a host, perhaps a port, and
    /// perhaps a `/` at the end, with nothing else. Error: `unreachable`
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

    private static let mostEndpoints = 64

    /// Returns an endpoint without a slash at its end; nil if the text is no endpoint.
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

    /// Returns whether a byte may be part of the name, the address or the port of a host.
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
            // A read of anything but a regular file may block, or may never end.
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
