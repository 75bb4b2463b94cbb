import GroupCluster
import GroupCommands
import GroupContainer
#if SQLite
import GroupDatabase
#endif
import GroupSystemCalls

#if SQLite
/// The state of this machine, as rows of an SQLite database below `.group`: the fold, the bases, the items of the disk,
/// and the entry in flight. All changes of one round are stored in one transaction.
///
/// A transaction survives the end of the program. A power cut may bring back an earlier state, which is harmless: the
/// log is replayed from there, and items of the disk that have its result already are taken over. Only an entry that is
/// about to be sent must be on the disk before (`isDurable`), because the cluster may have the entry afterwards.
final class StateStore {
    static let ifDamaged = CoordinationError.Remedy(
        .init(rawValue: "joinAgain"),
        "leave the cluster (group-cluster leave) and join it again: what differs here then gets a conflict name")
    private let connection: Connection
    private let directory: StateDirectory

    /// Opens the state of a container. Makes it if it is missing. The caller must have the right to be the container's
    /// program. Errors: those of `StateDirectory`; `damaged`, `noSpace`
    init(_ container: Container) throws {
        directory = try StateDirectory(container)
        let label = DatabaseLabel(
            ownFile: "\(StateDirectory.name)/state", of: container, ifDamaged: Self.ifDamaged)
        connection = try Connection(
            container.resolvedPath + Array("/.group/\(StateDirectory.name)/state".utf8), .writing, label)
        connection.begin(waiting: .seconds(5))
        // No other process opens the database, so SQLite keeps the index of the log in memory, and needs no room on the
        // disk to open it.
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

    /// Notes that this user has stated every option that another user must not choose.
    func trust() throws(CoordinationError) { try directory.trust() }

    func close() { connection.close() }

    /// Runs a statement. SQLite refuses a statement only if the table is not the one that this program has made.
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

    /// Returns a number that was stored as digits; 0 if there is none.
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

    /// Runs `body` as one transaction. With `isDurable`, the transaction is on the disk when this function returns.
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

    /// Sets a row, or removes it. To be called within `store` only.
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
/// A stand-in for the state: this program was built without the trait `SQLite`, and can store none.
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
    /// The subject of a row.
    enum Space: Int64 {
        case meta = 0
        case item, machine, value, channel, message
        case base, local
        /// Notes of files that a step takes out of the container: see `DisplacedFiles`.
        case taken
    }
}

/// The names of rows with one value each.
enum StateRow {
    static let conflicts = "conflicts"
    /// The files with values of this machine that the cluster has replaced.
    static let replaced = "replaced"
    static let postsInFlight = "posts in flight"
    /// Keys whose changes are too large for the cluster.
    static let refusedKeys = "refused keys"
    /// Keys that may not have the value of the fold.
    static let unappliedKeys = "unapplied keys"
    /// The items that coordinated changes have removed.
    static let meantRemovals = "removals"
    /// There while removals are withheld.
    static let withheldRemovals = "withheld items"
    /// The raw value of a `Pause`.
    static let pause = "pause"

    /// The position in the log of a suite up to which changes were sent.
    static func suite(_ name: String) -> String { "suite/\(name)" }

    /// The value of `suite` for a suite from before the machine joined of which nothing was sent yet.
    static let joinedSuite = "-"
}
