import Foundation
import GroupContainer
import GroupContainerTesting
import Testing

@Suite struct `A temporary container` {
    private let temporary: TemporaryContainer

    init() throws { temporary = try TemporaryContainer(group: "group.com.example.kit") }

    @Test func `a temporary container can be written, followed and read`() async throws {
        let coordinator = temporary.container.coordinator(purpose: "a test")
        _ = try await coordinator.write(json: "x", to: "a.json")
        #expect(try await coordinator.read("a.json", as: String.self) == "x")
        #expect(FileManager.default.fileExists(atPath: temporary.path + "/a.json"))
    }

    @Test func `a temporary container is found by its identifier with its environment`() {
        #expect(temporary.container.groupIdentifier == "group.com.example.kit")
        let home = temporary.environment["GROUP_CONTAINERS_HOME"]
        #expect(home.map { $0 + "/group.com.example.kit" } == temporary.path)
    }

    @Test func `each temporary container has its own directory`() throws {
        let others = try (0..<16).map { _ in try TemporaryContainer() }
        #expect(Set(others.map(\.directory)).count == 16)
    }

    @Test func `the directory of a temporary container is removed with the last reference`() throws {
        var directory = ""
        do {
            let other = try TemporaryContainer()
            directory = other.directory
            #expect(FileManager.default.createFile(atPath: directory + "/beside", contents: nil))
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func `a temporary container of a scope is removed at its end, also after an error`() async throws {
        struct Stop: Error {}
        var directory = ""
        await #expect(throws: Stop.self) {
            try await withTemporaryContainer { temporary in
                directory = temporary.directory
                #expect(FileManager.default.fileExists(atPath: directory))
                throw Stop()
            }
        }
        #expect(!directory.isEmpty && !FileManager.default.fileExists(atPath: directory))
    }

    @Test func `a temporary container is removed while a task still uses it`() async throws {
        let directory = try await withTemporaryContainer { temporary in
            let container = temporary.container
            Task.detached { for try await _ in container.changes(since: .start) {} }
            for number in 0..<20 {
                _ = try await container.coordinator(purpose: "a test").write(bytes: [1], to: "\(number)")
            }
            return temporary.directory
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func `a temporary container that cannot be created throws the reason`() throws {
        let error = #expect(throws: CoordinationError.self) { try TemporaryContainer(in: "/nowhere at all") }
        #expect(error?.code == .notFound)
        #expect(error?.description.hasPrefix("cannot make the temporary directory '/nowhere at all/") == true)
        #expect(throws: CoordinationError.self) { try TemporaryContainer(group: "../x", in: temporary.directory) }
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.directory)
        #expect(left == ["group.com.example.kit"])
    }
}
