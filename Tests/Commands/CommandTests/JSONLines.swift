import Foundation
import TestSupport
import Testing

/// The object that `--json` prints for an error.
struct JSONError: Decodable, Equatable {
    struct Holder: Decodable, Equatable {
        var pid: Int32
        var purpose: String
        var since: String
    }

    var code: String
    var item: String?
    var operation: String?
    var cause: String
    var container: String?
    var advice: String?
    var remedy: String?
    var generation: UInt64?
    var holders: [Holder] = []
}

extension JSONError {
    /// Reads the only object on standard error, with every documented key, and checks that standard output is empty.
    init(_ outcome: RunningProcess.Outcome, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
        #expect(outcome.errors.last == "\n", sourceLocation: sourceLocation)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(outcome)", sourceLocation: sourceLocation)
        let data = Data((lines.first ?? "").utf8)
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let keys = Set(object.map { Array($0.keys) } ?? [])
        #expect(keys.isSuperset(of: ["code", "item", "operation", "cause", "holders"]), sourceLocation: sourceLocation)
        self = try JSONDecoder().decode(Self.self, from: data)
    }
}

/// A time in UTC, to the millisecond.
func isTimestamp(_ text: String?) -> Bool {
    text?.wholeMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/) != nil
}
