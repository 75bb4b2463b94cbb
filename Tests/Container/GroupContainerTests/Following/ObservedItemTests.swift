import GroupSystemCalls
import Observation
import TestSupport
import Testing

@testable import GroupContainer

/// An item's value that is observed.
@Suite(.timeLimit(.minutes(1))) struct `An observed item` {
    private struct Todo: Codable, Equatable, Sendable {
        var title: String
    }

    private struct Model: Sendable {
        @ObservedItem var todos: [Todo]

        init(_ path: ItemPath, by coordinator: Coordinator) throws {
            _todos = try ObservedItem(path, default: [], by: coordinator)
        }

        func add(_ title: String) async throws -> [Todo] { try await $todos.update { $0.append(Todo(title: title)) } }
    }

    @Test(arguments: ["todo.json", "a*[x]?\\.json", "directory/todo"])
    func `the value follows changes of any process, and observers are notified`(name: String) async throws {
        let sample = try SampleContainer()
        let path = ItemPath(name)
        let model = try Model(path, by: sample.coordinator())
        #expect(model.todos.isEmpty)
        let notified = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = model.todos
        } onChange: {
            notified.continuation.yield()
        }
        try await sample.coordinator().write(json: [Todo(title: "Milk")], to: path)
        for await _ in notified.stream { break }
        #expect(await eventually { model.todos == [Todo(title: "Milk")] })
        #expect(try await model.add("Tea").map(\.title) == ["Milk", "Tea"])
        #expect(await eventually { model.todos.count == 2 })
        try await model.$todos.set([])
        #expect(await eventually { model.todos.isEmpty })
        #expect(try await sample.coordinator().read(path, as: [Todo].self).isEmpty)
    }

    @Test func `content that does not decode leaves the value, and is the error until it decodes again`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        try await coordinator.write(json: 1, to: "n")
        let item = try ObservedItem("n", default: 0, by: coordinator)
        #expect(item.value == 1 && item.error == nil)
        try await coordinator.write(text: "{broken", to: "n")
        #expect(await eventually { (item.error as? CoordinationError)?.code == .invalidContent })
        #expect(item.value == 1)
        try await coordinator.write(json: 2, to: "n")
        #expect(await eventually { item.value == 2 && item.error == nil })
        try await coordinator.remove("n")
        #expect(await eventually { item.value == 0 })
        try await coordinator.write(text: "{broken", to: "n")
        #expect(throws: CoordinationError.self) { try ObservedItem("n", default: 0, by: coordinator) }
    }

    @Test func `an item in a directory that is removed or moved away has its default`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        try await coordinator.write(json: 1, to: "a/b/n")
        let item = try ObservedItem("a/b/n", default: 0, by: coordinator)
        try await coordinator.move("a", to: "c")
        #expect(await eventually { item.value == 0 })
        try await coordinator.move("c", to: "a")
        #expect(await eventually { item.value == 1 })
        try await coordinator.remove("a", recursively: true)
        #expect(await eventually { item.value == 0 })
    }
}
