package import GroupContainer

/// An entry of the list.
package struct Todo: Codable, Equatable, Sendable {
    package var title: String
    package var done = false
}

/// The list: a JSON file of the container. Every change reads, changes and writes the file under one lock, so that two
/// apps, or an app and a helper, do not lose each other's changes.
package struct TodoList {
    private let coordinator: BlockingCoordinator
    private let timeout: Duration
    package static let path: ItemPath = "Library/todo.json"

    package init(_ coordinator: BlockingCoordinator, timeout: Duration) {
        self.coordinator = coordinator
        self.timeout = timeout
    }

    package func entries() throws -> [Todo] {
        do {
            return try coordinator.read(Self.path, as: [Todo].self, timeout: timeout)
        } catch let error as CoordinationError where error.code == .notFound {
            return []
        }
    }

    package func add(_ title: String) throws { try add([title]) }

    package func add(_ titles: [String]) throws { try change { $0 += titles.map { Todo(title: $0) } } }

    /// Marks an entry as done. If it is done already, the content stays the same: nothing is written, and no widget is
    /// refreshed.
    package func complete(_ number: Int) throws { try change { try $0[index(number, $0)].done = true } }

    package func remove(_ number: Int) throws { try change { try $0.remove(at: index(number, $0)) } }

    private func change(_ body: (inout [Todo]) throws -> Void) throws {
        try coordinator.update(Self.path, default: [Todo](), timeout: timeout, body)
    }

    private func index(_ number: Int, _ list: [Todo]) throws -> Int {
        guard list.indices.contains(number - 1) else { throw NoSuchEntry(number: number, count: list.count) }
        return number - 1
    }

    package struct NoSuchEntry: Error, CustomStringConvertible {
        var number: Int
        var count: Int
        package var description: String { "there is no entry \(number); the list has \(count)" }
    }
}
