import FoundationEssentials

/// The reason why every request will fail until a person has changed something. Other failures may end by themselves.
package enum EtcdRefusal: Equatable, Sendable {
    /// The user or the password is wrong.
    case credentials
    /// etcd has users, and the configuration names none.
    case noUser
    /// The password file is missing, is open to other users, or has no password.
    case passwordFile
    /// The user's roles do not allow the request.
    case permission
    /// The certificate of an endpoint is not trusted, or that of the authority cannot be read.
    case certificate
    /// An endpoint is no etcd, is too old, or has its JSON gateway off.
    case noGateway
}

extension EtcdFailure {
    /// The reason why this failure lasts until a person has changed something; nil for other failures.
    package var refusal: EtcdRefusal? {
        switch self {
        case .noGateway: .noGateway
        case .denied(let text):
            if text.hasPrefix(Self.untrusted) {
                .certificate
            } else if text.contains("password file") {
                .passwordFile
            } else if text.contains("permission denied") {
                .permission
            } else if text.contains("user name is empty") {
                .noUser
            } else {
                // A token that has ended, or is older than a change of users or roles, is renewed at the next call.
                isOfTheToken ? nil : .credentials
            }
        default: nil
        }
    }

    /// The beginning of the text of `denied` for a certificate that is not trusted.
    static let untrusted = "the certificate is not trusted: "
}

extension EtcdConnection {
    /// The statuses of HTTP with which servers answer to a path or a method that they do not have.
    private static let unknownPath: Set<Int> = [404, 405, 501]
    private static let speaksTLS = Array("HTTP request to an HTTPS server".utf8)

    /// Returns the failure for an answer with an error.
    static func failure(status: Int, _ bytes: [UInt8]) -> EtcdFailure {
        let failure = EtcdAnswers.failure(status: status, bytes)
        guard case .malformed = failure else { return failure }
        if unknownPath.contains(status) { return .noGateway("it answers with status \(status) of HTTP") }
        // A server in Go answers this to plain HTTP on a port for TLS.
        if status == 400, bytes.count <= 1_000, !bytes.ranges(of: speaksTLS).isEmpty {
            return .noGateway("it speaks TLS; write https instead of http")
        }
        return failure
    }

    /// Returns a failure whose text has the address of its endpoint, if it is needed. For an endpoint without a
    /// gateway, the text also has what is there instead.
    func explained(_ failure: EtcdFailure, _ endpoint: String) -> EtcdFailure {
        switch failure {
        case .denied(let text) where failure.refusal != .passwordFile && !text.contains(endpoint):
            .denied("\(endpoint): \(text)")
        case .malformed(let text) where !text.contains(endpoint): .malformed("\(endpoint): \(text)")
        case .noGateway(let text) where !text.contains(endpoint): .noGateway("\(endpoint): \(kind(endpoint) ?? text)")
        default: failure
        }
    }

    /// Requests the version of an endpoint without a gateway. Returns the version of an etcd, with the reason why it
    /// has no gateway; nil for another server.
    private func kind(_ endpoint: String) -> String? {
        let bytes = try? request(endpoint + "/version", .get, [], limit: configuration.requestLimit)
        guard let bytes, bytes.count <= 1_000, let version = Self.version(bytes) else { return nil }
        let numbers = version.split(separator: ".").prefix(2).map { Int($0) ?? 0 }
        let isOld = numbers.lexicographicallyPrecedes([3, 4])
        return "it is etcd \(version), "
            + (isOld ? "which is too old: 3.4 is needed" : "whose JSON gateway is off (--enable-grpc-gateway)")
    }

    private static func version(_ bytes: [UInt8]) -> String? {
        struct Versions: Decodable {
            var etcdserver: String
        }
        guard let version = try? JSONDecoder().decode(Versions.self, from: Data(bytes)).etcdserver,
            (1...32).contains(version.utf8.count), version.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return version
    }
}
