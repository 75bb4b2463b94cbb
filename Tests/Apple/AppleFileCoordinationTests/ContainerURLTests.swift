import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The URL of a group's container` {
    private let temporary: TemporaryContainer
    private let name = "group.com.example.todo"
    private var path: String { "\(temporary.directory)/\(name)" }

    init() throws { temporary = try TemporaryContainer(creating: false) }

    private func container() throws -> Container { try Container.opened(ofGroup: name, below: temporary.directory) }

    @Test func `a container that does not exist is created, with its directories as coordinated changes`() throws {
        let container = try container()
        let url = try container.urlWithLibrary()
        #expect(url == URL(filePath: path, directoryHint: .isDirectory) && url.hasDirectoryPath)
        #expect(container.groupIdentifier == name)
        for directory in ["Library/Caches", "Library/Preferences"] {
            var isDirectory: ObjCBool = false
            let place = url.appending(path: directory).path
            #expect(unsafe FileManager.default.fileExists(atPath: place, isDirectory: &isDirectory))
            #expect(isDirectory.boolValue)
        }
        let changes = try temporary.changes(container)
        #expect(!changes.isEmpty && changes.allSatisfy(\.isCoordinated))
        #expect(Set(changes.map { "\($0.path)" }).isSuperset(of: ["Library/Caches", "Library/Preferences"]))
    }

    @Test func `nothing is written where the directories exist, and what is missing is created again`() throws {
        let container = try container()
        let url = try container.urlWithLibrary()
        let count = try temporary.changes(container).count
        #expect(try self.container().urlWithLibrary() == url)
        #expect(try temporary.changes(container).count == count)
        _ = try container.coordinator(purpose: "tests").blocking.remove("Library/Caches")
        _ = try container.urlWithLibrary()
        #expect(FileManager.default.fileExists(atPath: url.appending(path: "Library/Caches").path))
    }

    @Test func `a file manager finds the container of an identifier, and writes the error where there is none`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [directory = temporary.directory as String, path = path as String, name = name as String] in
            limitLifetime()
            unsafe setenv("GROUP_CONTAINERS_HOME", directory, 1)
            let url = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name)
            #expect(url == URL(filePath: path, directoryHint: .isDirectory))
            #expect(url?.hasDirectoryPath == true)
            #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name) == url)
            for wrong in ["", "a/b", "..", "group com", String(repeating: "a", count: 256)] {
                #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: wrong) == nil)
            }
            unsafe setenv("GROUP_CONTAINERS_HOME", "/dev/null", 1)
            #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name) == nil)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.split(separator: "\n").count == 6, "\(text)")
        #expect(text.contains("a group identifier has letters"))
    }

    @Test func `an error that Apple's form has no place for is passed to the handler, and not written`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            limitLifetime()
            let seen = Guarded([String]())
            UnreportedErrors.handler = { error in seen.withLock { $0.append("\(error)") } }
            #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "a/b") == nil)
            #expect(
                seen.withLock { $0 }.count == 1 && seen.withLock { $0 }[0].contains("a group identifier has letters"))
        }
        #expect(result?.standardErrorContent.isEmpty == true)
    }

    @Test func `a file where a directory is to be is an error`() throws {
        let container = try container()
        _ = try container.coordinator(purpose: "tests").blocking.write(bytes: [1], to: "Library")
        #expect(throws: CoordinationError.self) { try container.urlWithLibrary() }
    }
}
