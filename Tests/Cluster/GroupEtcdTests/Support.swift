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
    var isNoSpace: Bool { if case .noSpace = self { true } else { false } }
}

/// A server that is no etcd: see fake.py. It ends with the object.
final class FakeServer {
    let endpoint: String
    private let process: RunningProcess

    init(_ words: String...) throws {
        let directory = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        process = try RunningProcess.bound(["python3", "/\(directory)/fake.py"] + words)
        try process.waitForLines(1)
        endpoint = "http://127.0.0.1:\(process.text.split(separator: "\n").first ?? "")"
    }

    /// The paths of the requests until now.
    var requests: [String] { process.text.split(separator: "\n").dropFirst().map(String.init) }

    func waitForRequests(_ count: Int) throws { try process.waitForLines(1 + count) }
}
#endif
