import GroupCluster
import GroupCommands
import GroupContainer
#if SQLite
import GroupDatabase
#endif
import GroupSystemCalls

#if SQLite
/// What this machine knows of its cluster: the fold, the base, the items of the disk, and the entry in flight, as rows of one
/// SQLite database below `.group`. All that belongs to one step is stored in one transaction.
///
/// A transaction survives the end of the program. After a power cut, the state is that of an earlier moment, which is as
/// good: what is on the disk is what the fold wants then, and is taken over. Only an entry that is about to be sent must be on the
/// disk before (`durable`), because the cluster may have it then.
final class StateStore {
    static let ifDamaged = CoordinationError.Remedy(
        .init(rawValue: "joinAgain"),
        "leave the cluster (group-cluster leave) and join it again: what differs here then gets a conflict name")
    private let connection: Connection
    private let directory: StateDirectory

    /// Opens the state of a container; makes it where it is missing. Only the process that has the right to be the
    /// container's program may do so. Errors: those of `StateDirectory`; `damaged`, `noSpace`
    init(_ container: Container) throws {
        directory = try StateDirectory(container)
        let label = DatabaseLabel(
            ownFile: "\(StateDirectory.name)/state", of: container, ifDamaged: Self.ifDamaged)
        connection = try Connection(
            container.resolvedPath + Array("/.group/\(StateDirectory.name)/state".utf8), .writing, label)
        connection.begin(waiting: .seconds(5))
        // One process has the state: the index of the log is in its memory then, and opening it takes no room on the
        // disk.
        try run("PRAGMA locking_mode = EXCLUSIVE")
        try run("PRAGMA journal_mode = WAL")
        try run(
            """
            CREATE TABLE IF NOT EXISTS state (space INTEGER, key BLOB, value BLOB NOT NULL, PRIMARY KEY (space, key))
            WITHOUT ROWID
            """)
    }

    /// Removes the state of a container.
    static func remove(from container: Container) throws {
        let directory = try PrivateDirectory(StateDirectory.name, in: container).open()
        for name in ["state", "state-wal", "state-shm", "full"] { try? directory.unlink(Array(name.utf8)) }
    }

    /// Whether no other user can have written the state: see `StateDirectory`.
    var isTrusted: Bool { directory.isTrusted }

    /// Notes that this user has stated everything that another user must not choose.
    func trust() throws(CoordinationError) { try directory.trust() }

    func close() { connection.close() }

    /// Runs a statement. SQLite refuses one only where the table is not this program's.
    private func run(
        _ text: String, _ values: [any DatabaseValueConvertible] = [],
        _ body: (DatabaseRow) throws -> Bool = { _ in true }
    ) throws {
        do {
            try connection.run(text, values, body)
        } catch let error as DatabaseError {
            throw LoadedState.damaged(error.reason, cause: error)
        }
    }

    func value(_ space: Space, _ key: [UInt8]) throws -> [UInt8]? {
        var found: [UInt8]?
        try run("SELECT value FROM state WHERE space = ? AND key = ?", [space.rawValue, DatabaseValue.blob(key)]) {
            row in
            guard case .blob(let bytes)? = row.values.first else { throw LoadedState.rowIsWrong }
            found = bytes
            return false
        }
        return found
    }

    func value(_ key: String) throws -> [UInt8]? { try value(.meta, Array(key.utf8)) }

    /// Returns a number that was stored as digits; 0 where none was.
    func number(_ key: String) throws -> Int64 {
        guard let bytes = try value(key) else { return 0 }
        guard let number = Int64(String(decoding: bytes, as: UTF8.self)) else {
            throw LoadedState.damaged("'\(key)' is no number")
        }
        return number
    }

    func forEach(_ space: Space, _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void) throws {
        try run("SELECT key, value FROM state WHERE space = ? ORDER BY key", [space.rawValue]) { row in
            guard case .blob(let key)? = row.values.first, case .blob(let value)? = row.values.last,
                key.count <= Int(UInt16.max)
            else { throw LoadedState.rowIsWrong }
            try body(key, value)
            return true
        }
    }

    /// Runs `body` as one transaction. With `isDurable`, it is on the disk when this function returns.
    func store(isDurable: Bool = false, _ body: (StateStore) throws -> Void) throws {
        try run("PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")")
        try run("BEGIN IMMEDIATE")
        do {
            try body(self)
            try run("COMMIT")
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Checks that there is room for what a round stores. Error: `noSpace`
    func checkRoom() throws {
        try store(isDurable: true) { try $0.set("room", [UInt8](repeating: 0, count: Self.roomOfRound)) }
        try store { try $0.set("room", nil) }
    }

    private static let roomOfRound = 64 << 10

    /// Sets a row, or removes it. Only within `store`.
    func set(_ space: Space, _ key: [UInt8], _ value: [UInt8]?) throws {
        if let value {
            try run(
                "INSERT OR REPLACE INTO state (space, key, value) VALUES (?, ?, ?)",
                [space.rawValue, DatabaseValue.blob(key), DatabaseValue.blob(value)])
        } else {
            try run("DELETE FROM state WHERE space = ? AND key = ?", [space.rawValue, DatabaseValue.blob(key)])
        }
    }

    func set(_ key: String, _ value: [UInt8]?) throws { try set(.meta, Array(key.utf8), value) }

    func removeAll(_ space: Space) throws { try run("DELETE FROM state WHERE space = ?", [space.rawValue]) }
}
#else
/// The state of a machine, which cannot be kept: this program was built without the trait `SQLite`.
final class StateStore {
    static let ifDamaged = CoordinationError.Remedy(.init(rawValue: "joinAgain"), "")

    init(_ container: Container) throws {
        if let missing = PackageTrait.missing(of: [.sqlite]) { throw missing }
    }

    static func remove(from container: Container) throws {}
    var isTrusted: Bool { true }
    func trust() throws {}
    func checkRoom() throws {}
    func close() {}
    func value(_ space: Space, _ key: [UInt8]) throws -> [UInt8]? { nil }
    func value(_ key: String) throws -> [UInt8]? { nil }
    func number(_ key: String) throws -> Int64 { 0 }
    func forEach(_ space: Space, _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void) throws {}
    func store(isDurable: Bool = false, _ body: (StateStore) throws -> Void) throws {}
    func set(_ space: Space, _ key: [UInt8], _ value: [UInt8]?) throws {}
    func set(_ key: String, _ value: [UInt8]?) throws {}
    func removeAll(_ space: Space) throws {}
}
#endif

extension StateStore {
    /// What a row is about.
    enum Space: Int64 {
        case meta = 0
        case item, machine, value, channel, message
        case base, local
        /// Steps that have begun: files that were taken out of the container, and what they are to become.
        case taken
    }
}

/// The names of rows with one value each.
enum StateRow {
    static let conflicts = "conflicts"
    /// The files with values for which the cluster has others.
    static let replaced = "replaced"
    static let postsInFlight = "posts in flight"
    /// Keys whose changes the cluster cannot have.
    static let refusedKeys = "refused keys"
    /// Keys that may not have what the fold has.
    static let unappliedKeys = "unapplied keys"
    /// The items that coordinated changes have removed.
    static let meantRemovals = "removals"
    /// The number of items that there were when removals began to be withheld.
    static let withheldRemovals = "withheld removals"
    /// There when a person has accepted the removals.
    static let acceptedRemovals = "accepted loss"
    /// The raw value of a `Pause`.
    static let pause = "pause"

    /// The place in the log of a suite behind what was sent.
    static func suite(_ name: String) -> String { "suite/\(name)" }

    /// Stands for the place in the log of a suite that was there before the machine joined.
    static let joinedSuite = "-"
}
