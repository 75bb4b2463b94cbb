import Foundation
package import GroupContainer
import GroupSystemCalls

/// Calls for tests that block on threads of their own, and are members themselves.
extension TemporaryContainer {
    package func open() throws -> Container { try Container(path: path) }

    /// Returns an item's content as any process reads it, without a lock; nil if there is no item.
    package func content(of item: String) -> String? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(item)") else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    package func exists(_ item: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(item)") }

    package var staging: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.group/staging")) ?? []
    }

    package var journalFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.group/journal")) ?? []).sorted()
    }

    /// Returns all changes that are kept, as a new reader of the container gets them; throws if a number is missing.
    package func changes(_ container: Container? = nil, from origin: ChangeOrigin = .start) throws -> [Change] {
        var follower = try (container ?? open()).recordedChanges(since: origin)
        var found: [Change] = []
        while let change = try follower.next(timeout: .zero) { found.append(change) }
        // The changes of a transaction share one number, and that watching is degraded has the number of what was
        // before.
        let numbers = found.filter { ($0.transaction?.index ?? 0) == 0 && $0.kind.name != "degraded" }
            .map(\.sequence.rawValue)
        let first = numbers.first ?? 1
        guard numbers.indices.allSatisfy({ numbers[$0] == first + UInt64($0) }) else {
            throw Failed(description: "a gap in the sequence: \(numbers)")
        }
        return found
    }

    /// Runs groupctl to its end.
    package func groupctl(_ words: String..., input: String = "") throws -> (status: Int32, text: String) {
        var words = words
        words.insert(path, at: 1)
        return try RunningProcess(["groupctl"] + words, input: input).finish()
    }

    /// Starts `test-member MODE <this container> WORDS…`.
    package func member(_ mode: String, _ words: String...) throws -> RunningProcess {
        try RunningProcess(["test-member", mode, path] + words)
    }

    /// Returns once an access is visible: of this item, waiting or held, with everything below it or not. (The item is
    /// given, as the order in which a request takes several items is different in each container.)
    package func waitForAccess(
        _ path: String, waiting isWaiting: Bool, whole isWhole: Bool = false, in container: Container
    ) throws {
        let isVisible = try eventually {
            try container.status().members.flatMap(\.locks)
                .contains { ($0.path, $0.isWaiting, $0.isWholeDirectory) == (path, isWaiting, isWhole) }
        }
        if !isVisible { throw WaitedInVain(description: "waited in vain for '\(path)'") }
    }

    /// Returns once this many other requests are visible as waiting.
    package func waitForWaiters(_ count: Int, in container: Container) throws {
        let areVisible = try eventually {
            try container.status().members.flatMap(\.locks).count(where: \.isWaiting) >= count
        }
        if !areVisible { throw WaitedInVain(description: "waited in vain for \(count) waiters") }
    }
}
