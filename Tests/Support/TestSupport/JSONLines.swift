import Foundation

/// A line of `watch-group --json` and `groupctl changes --json`.
package struct JSONChange: Decodable, Equatable {
    package struct Author: Decodable, Equatable {
        package var pid: Int32
        package var pidNamespace: UInt64?
        package var purpose: String
    }

    package struct Transaction: Decodable, Equatable {
        package var id: String
        package var index: Int
        package var count: Int
    }

    package var sequence: UInt64
    package var cursor: String
    package var transaction: Transaction?
    package var kind: String
    package var path: String
    package var pathBytes: String?
    package var from: String?
    package var fromBytes: String?
    package var type: String?
    package var size: UInt64?
    package var generation: UInt64
    package var coordinated: Bool
    package var by: Author?
    package var time: String
    /// The reason of a `degraded` line.
    package var reason: String?

    package init(_ line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }

    /// A change that no program printed: without a cursor, a generation or a time.
    package init(
        sequence: UInt64, _ kind: String, _ path: [UInt8], from: [UInt8]? = nil, type: String?, size: UInt64?
    ) {
        self.sequence = sequence
        self.kind = kind
        cursor = ""
        generation = 0
        time = ""
        self.path = String(decoding: path, as: UTF8.self)
        pathBytes = Data(path).base64EncodedString()
        self.from = from.map { String(decoding: $0, as: UTF8.self) }
        fromBytes = from.map { Data($0).base64EncodedString() }
        self.type = type
        self.size = size
        coordinated = false
    }

    /// The path's bytes, also where they are not UTF-8.
    package var pathOnDisk: [UInt8] { Self.bytes(path, pathBytes) }
    package var fromOnDisk: [UInt8]? { from.map { Self.bytes($0, fromBytes) } }

    private static func bytes(_ text: String, _ encoded: String?) -> [UInt8] {
        encoded.flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? Array(text.utf8)
    }
}

/// The output of `groupctl status --json`.
package struct JSONStatus: Decodable {
    package struct Journal: Decodable {
        package var sequence: UInt64
        package var cursor: String
        package var files: Int
    }
    package struct HeldLock: Decodable {
        package var path: String
        package var mode: String
        package var state: String
        package var since: String
    }
    package struct Member: Decodable {
        package var pid: Int32
        package var pidNamespace: UInt64?
        package var user: UInt32
        package var purpose: String
        package var since: String
        package var leader: Bool
        package var locks: [HeldLock]
    }

    package var path: String
    package var identifier: String?
    package var container: String
    package var journal: Journal
    package var members: [Member]

    package init(of container: TemporaryContainer) async throws {
        try self.init(await container.done("status", "--json").text)
    }

    package init(_ text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }
}

/// A line of `groupctl doctor --json`.
package struct JSONFinding: Decodable, Equatable {
    package var code: String
    package var severity: String
    package var item: String?
    package var pid: Int32?
    package var what: String
    package var why: String
    package var remedy: String
    package var repairable: Bool
    package var repaired: Bool
    package var done: String?

    package init(_ line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

extension TemporaryContainer {
    /// Returns what `groupctl doctor` finds, without what is so in every container of a test: no process follows, and
    /// it is in memory. Status and findings must agree.
    package func findings(_ options: String..., environment: [String: String?] = [:]) async throws -> [JSONFinding] {
        let words = ["doctor", path, "--json"] + options
        let outcome = try await start("groupctl", words, environment: environment).finish()
        let findings = try outcome.lines.map { try JSONFinding($0) }
        let isHealthy = findings.allSatisfy { $0.severity == "note" || $0.repaired }
        guard outcome.status == (isHealthy ? 0 : 1), outcome.errors.isEmpty else {
            throw Failed(description: "groupctl doctor: \(outcome)")
        }
        return findings.filter { !["leaderMissing", "fileSystemTemporary"].contains($0.code) }
    }
}
