import AppleFileCoordination
import GroupSystemCalls
import TestSupport
import Testing

/// The private copies that accessors for uploading get.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process, .root))
struct `Copies for uploading` {
    private let container: TemporaryContainer
    private let files = FileManager.default

    init() throws {
        container = try TemporaryContainer()
        for name in ["notes.txt", "d/one.txt", "d/e/two.txt"] {
            _ = try container.groupctl("write", name, input: "content of \(name)")
        }
    }

    private var staging: String { "\(container.path)/.group/staging" }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: "\(container.path)/\(path)") }

    private func text(_ url: URL) -> String? { try? String(contentsOf: url, encoding: .utf8) }

    /// Calls `body` with the URLs that an accessor gets for uploading several items.
    private func upload(_ paths: String..., body: @escaping @Sendable ([URL]) -> Void) throws {
        let intents = paths.map { NSFileAccessIntent.readingIntent(with: url($0), options: .forUploading) }
        let done = OneShotEvent<String>()
        NSFileCoordinator().coordinate(with: intents, queue: OperationQueue()) { error in
            body(intents.map(\.url))
            done.set(error.map { "\($0)" } ?? "granted")
        }
        guard case .happened("granted") = done.block(until: Deadline(after: patience)) else {
            throw WaitedInVain(description: "the accessor was not called, or with an error")
        }
    }

    @Test func `a copy of a file has the name of the file, in a directory that goes with it`() throws {
        var error: NSError?
        var copy: URL?
        NSFileCoordinator().coordinate(readingItemAt: url("notes.txt"), options: .forUploading, error: &error) {
            given in
            copy = given
            #expect(given.lastPathComponent == "notes.txt" && given.pathExtension == "txt")
            #expect(given.path.hasPrefix(staging) && text(given) == "content of notes.txt")
            let directory = given.deletingLastPathComponent().path
            #expect((try? files.contentsOfDirectory(atPath: directory)) == ["notes.txt"])
        }
        #expect(error == nil && copy != nil)
        #expect(try files.contentsOfDirectory(atPath: staging) == [])
    }

    @Test func `a copy of a directory has its name and its contents`() throws {
        try upload("d") { [url = url("d")] urls in
            #expect(urls[0] != url && urls[0].lastPathComponent == "d" && urls[0].hasDirectoryPath)
            #expect(
                (try? String(contentsOf: urls[0].appendingPathComponent("e/two.txt"), encoding: .utf8))
                    == "content of d/e/two.txt")
        }
        #expect(eventually { (try? files.contentsOfDirectory(atPath: staging)) == [] })
    }

    @Test func `each copy of a request has its name, also of an item twice, and of a directory with an item in it`()
        throws
    {
        try upload("d", "d/one.txt", "notes.txt", "notes.txt", "d/e/two.txt", "none") { [none = url("none")] urls in
            #expect(urls.map(\.lastPathComponent) == ["d", "one.txt", "notes.txt", "notes.txt", "two.txt", "none"])
            // There is no copy of what does not exist.
            #expect(
                urls.map { FileManager.default.fileExists(atPath: $0.path) } == [true, true, true, true, true, false])
            #expect(urls[5] == none && Set(urls).count == 5)
        }
        #expect(eventually { (try? files.contentsOfDirectory(atPath: staging)) == [] })
    }

    @Test func `the copy of a killed process is removed by the next one`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [item = url("notes.txt").path as String] in
            limitLifetime()
            var error: NSError?
            NSFileCoordinator().coordinate(
                readingItemAt: URL(fileURLWithPath: item), options: .forUploading, error: &error
            ) { given in
                if given.lastPathComponent == "notes.txt" { _ = kill(processIdentifier(), SIGKILL) }
            }
        }
        #expect(try files.contentsOfDirectory(atPath: staging).count == 1)
        #expect(try container.groupctl("read", "notes.txt").status == 0)
        #expect(try files.contentsOfDirectory(atPath: staging) == [])
    }

    @Test(.enabled(if: isRoot, "needs root, to become a user whom a mode stops"))
    func `a copy of a directory without write permission has its name and its mode`() async throws {
        try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: url("d").path)
        let (status, _) = try RunningProcess(["chown", "-R", "65534:65534", container.directory]).finish()
        #expect(status == 0)
        await #expect(processExitsWith: .success) { [item = url("d").path as String] in
            limitLifetime()
            #expect(setegid(65_534) == 0 && seteuid(65_534) == 0)
            var error: NSError?
            var name: String?
            NSFileCoordinator().coordinate(
                readingItemAt: URL(fileURLWithPath: item), options: .forUploading, error: &error
            ) { given in
                name = given.lastPathComponent
                let attributes = try? FileManager.default.attributesOfItem(atPath: given.path)
                #expect((attributes?[.posixPermissions] as? NSNumber)?.intValue == 0o555)
            }
            #expect(error == nil && name == "d", "\(String(describing: error))")
        }
        #expect(try files.contentsOfDirectory(atPath: staging) == [])
    }
}
