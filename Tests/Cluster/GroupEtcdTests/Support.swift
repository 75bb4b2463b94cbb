#if Curl
import EtcdSupport
import FoundationEssentials
@testable import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

extension EtcdConfiguration {
    /// A configuration for tests, on a machine that does other things, too.
    static func patient(_ endpoints: [String]) throws -> Self {
        var configuration = try EtcdConfiguration(endpoints: endpoints)
        configuration.requestLimit = .seconds(20)
        return configuration
    }

    /// A configuration with a short limit: the test waits for its end.
    static func hasty(_ endpoints: [String]) throws -> Self {
        var configuration = try EtcdConfiguration(endpoints: endpoints)
        configuration.requestLimit = .milliseconds(300)
        return configuration
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns the failure of a call; nil and an issue where there is none.
func failure<Answer>(
    of call: () throws(EtcdFailure) -> Answer, at location: SourceLocation = #_sourceLocation
) -> EtcdFailure? {
    do throws(EtcdFailure) {
        let answer = try call()
        Issue.record("there was an answer: \(answer)", sourceLocation: location)
        return nil
    } catch {
        return error
    }
}

extension EtcdFailure {
    var isNoAnswer: Bool { if case .noAnswer = self { true } else { false } }
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
    var isDenied: Bool { if case .denied = self { true } else { false } }
    var isMalformed: Bool { if case .malformed = self { true } else { false } }
    var isNoGateway: Bool { if case .noGateway = self { true } else { false } }
    var isNoSpace: Bool { if case .noSpace = self { true } else { false } }
}

/// A server of this directory that prints its port, and then what it has done. It ends with the object.
class PythonServer {
    let endpoint: String
    private let process: RunningProcess

    init(_ program: String, _ words: [String]) throws {
        let directory = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        process = try RunningProcess.bound(["python3", "/\(directory)/\(program)"] + words)
        try process.waitForLines(1)
        endpoint = "http://127.0.0.1:\(process.text.split(separator: "\n").first ?? "")"
    }

    fileprivate var lines: [String] { process.text.split(separator: "\n").dropFirst().map(String.init) }
    fileprivate func waitForLines(_ count: Int) throws { try process.waitForLines(1 + count) }
}

/// A server that is no etcd: see fake.py.
final class FakeServer: PythonServer {
    init(_ words: String...) throws { try super.init("fake.py", words) }

    /// The paths of the requests until now.
    var requests: [String] { lines }

    func waitForRequests(_ count: Int) throws { try waitForLines(count) }
}

/// A node of etcd that answers as another version does: see gateway.py.
final class Gateway: PythonServer {
    init(_ version: String, before server: EtcdServer) throws { try super.init("gateway.py", [version, server.host]) }

    /// The errors that it has sent until now.
    var errors: [String] { lines }
}

extension EtcdServer {
    /// Starts a node with a user `app`, who may use keys below `app/`, and root.
    static func withUsers(_ options: EtcdOptions = EtcdOptions()) throws -> EtcdServer {
        let server = try EtcdServer(options)
        try server.control("user", "add", "root:root-password")
        try server.control("user", "grant-role", "root", "root")
        try server.control("user", "add", "app:app-\"password\"")
        try server.control("role", "add", "app")
        try server.control("role", "grant-permission", "app", "--prefix=true", "readwrite", "app/")
        try server.control("user", "grant-role", "app", "app")
        try server.control("auth", "enable")
        return server
    }

    /// Lets the user `app` use more keys: tokens are of a time before that.
    func grantMore() throws {
        try control(
            "--user", "root:root-password", "role", "grant-permission", "app", "--prefix=true", "readwrite", "more/")
    }
}
#endif
