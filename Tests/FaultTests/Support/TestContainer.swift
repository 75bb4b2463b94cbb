import Foundation
import GroupContainer
import SystemCalls
import Testing

/// A container for one test, removed with it.
final class TestContainer: Sendable {
    let path: String

    init(creating: Bool = true) throws {
        // Memory: on a disk the syncs of some tests take minutes. The disk is for the tests of power cuts.
        path = (environmentValue("TMPDIR") ?? "/dev/shm") + "/faults-\(randomWord())"
        if creating { _ = try Container(path: path, creating: true) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> Container { try Container(path: path) }

    /// An item's content as anyone sees it, without a lease; nil where nothing stands.
    func content(of item: String) -> String? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(item)") else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    func exists(_ item: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(item)") }

    var staging: [String] { (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.group/staging")) ?? [] }

    var journalFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/.group/journal")) ?? []).sorted()
    }

    /// All changes that are kept, as a new reader of the container gets them; requires that no number is missing.
    func changes(_ container: Container? = nil, from origin: ChangeOrigin = .start) throws -> [Change] {
        var follower = try (container ?? open()).recordedChanges(since: origin)
        var found: [Change] = []
        while let change = try follower.next(timeout: .zero) { found.append(change) }
        let first = found.first?.sequence ?? 1
        try #require(found.indices.allSatisfy { found[$0].sequence == first + UInt64($0) }, "a gap in the sequence")
        return found
    }

    /// Runs groupctl to its end.
    func groupctl(_ words: String..., input: String = "") throws -> (status: Int32, text: String) {
        var words = words
        words.insert(path, at: 1)
        return try RunningProcess([Executables.groupctl] + words, input: input).finish()
    }

    func start(_ mode: String, _ words: String...) throws -> RunningProcess {
        try RunningProcess([Executables.testMember, mode, path] + words)
    }

    /// A member that holds an item.
    func holder(of item: String) throws -> RunningProcess {
        let holder = try start("hold", item)
        try holder.waitForText("held")
        return holder
    }

    /// Returns once so many others are seen to wait.
    func waitForWaiters(_ count: Int, in container: Container) throws {
        let limit = Date(timeIntervalSinceNow: RunningProcess.patience)
        while try container.status().members.flatMap(\.accesses).count(where: \.isWaiting) < count {
            if Date() > limit { throw RunningProcess.WaitedInVain(description: "waited in vain for \(count) waiters") }
            pause(nanoseconds: 100_000)
        }
    }
}
