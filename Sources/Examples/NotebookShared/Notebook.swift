package import GroupContainer

#if SQLite
import GroupDatabase

/// The store of the notes: a database that the app, its widget and its share extension open, each for itself.
package struct Notebook: Sendable {
    private let database: GroupDatabase

    /// The steps to the present schema. Whichever program comes first executes those that are missing.
    private static let steps = [
        Migration("notes", script: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"),
        Migration("done", script: "ALTER TABLE note ADD COLUMN done INTEGER NOT NULL DEFAULT 0"),
    ]

    package init(in container: Container) throws {
        database = try GroupDatabase(Self.path, in: container, migrations: Self.steps)
    }

    package func add(_ text: String) throws {
        try database.blocking.write { db in _ = try db.execute("INSERT INTO note (text) VALUES (?)", text) }
    }

    /// Returns false if there is no such note.
    package func finish(_ number: Int) throws -> Bool {
        try database.blocking.write { db in try db.execute("UPDATE note SET done = 1 WHERE id = ?", number) == 1 }
    }

    package func notes() throws -> [Note] {
        try database.blocking.read { db in
            try db.rows("SELECT id, text, done FROM note ORDER BY id").map { row in
                Note(number: try row.value("id"), text: try row.value("text"), isDone: try row.value("done"))
            }
        }
    }

    /// Calls a closure now, and after each commit that changes the notes, whichever program made it.
    package func follow(_ body: ([Note]) throws -> Void) async throws {
        let changes = database.changes(of: "note")
        try body(notes())
        for try await _ in changes { try body(notes()) }
    }

    package func backUp(to file: AbsolutePath) throws { try database.blocking.backUp(to: file) }
}
#else
/// The store of the notes, which cannot be opened: this program was built without the package trait SQLite.
package struct Notebook: Sendable {
    private struct Missing: Error, CustomStringConvertible {
        let description = "this program was built without the package trait SQLite"
    }

    package init(in container: Container) throws { throw Missing() }
    package func add(_ text: String) throws {}
    package func finish(_ number: Int) throws -> Bool { false }
    package func notes() throws -> [Note] { [] }
    package func follow(_ body: ([Note]) throws -> Void) async throws {}
    package func backUp(to file: AbsolutePath) throws {}
}
#endif

extension Notebook {
    package static let path: ItemPath = "Library/notebook.sqlite"

    package struct Note: Sendable {
        package var number: Int
        package var text: String
        package var isDone: Bool
    }
}
