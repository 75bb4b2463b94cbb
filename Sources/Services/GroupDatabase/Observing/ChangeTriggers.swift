#if SQLite
/// The triggers that count the changes of each table, in the transaction that makes them: so also the commits of other
/// programs are counted, and those of a process that died after its commit. A table has a number in `_group_changes`,
/// which each changed row increases.
enum ChangeTriggers {
    static let table = "_group_changes"
    private static let events = ["insert", "update", "delete"]

    /// The condition for tables `t` whose names are neither SQLite's nor this library's.
    private static let isUsers = #"t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT LIKE '\_group\_%' ESCAPE '\'"#

    /// The condition for tables `t` that lack triggers. A table that was renamed has triggers of its old name, which
    /// count for that.
    private static let lacksTriggers = """
        (SELECT count(*) FROM sqlite_schema AS s WHERE s.type = 'trigger' AND s.tbl_name = t.name
         AND s.name IN ('_group_insert_' || t.name, '_group_update_' || t.name, '_group_delete_' || t.name)) < 3
        """

    /// Makes the triggers of tables that have none, if the schema was changed since the connection looked last, by this
    /// transaction or another program.
    static func keep(in connection: Connection) throws {
        let schema = try connection.integer("PRAGMA schema_version")
        if schema == connection.triggeredSchema { return }
        try make(in: connection)
        connection.triggeredSchema = try connection.integer("PRAGMA schema_version")
    }

    private static func make(in connection: Connection) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS \(table) (table_name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID")
        var wanted: [String: String] = [:]
        let query =
            "SELECT t.name FROM pragma_table_list AS t WHERE t.schema = 'main' AND t.type = 'table' AND \(isUsers)"
        for name in try texts(of: query, in: connection) {
            try connection.run("INSERT OR IGNORE INTO \(table) VALUES (?, 0)", name)
            for event in events {
                let trigger = "_group_\(event)_\(name)"
                wanted[trigger] =
                    "CREATE TRIGGER \(quoted(trigger)) AFTER \(event.uppercased()) ON \(quoted(name)) BEGIN "
                    + "UPDATE \(table) SET number = number + 1 WHERE table_name = \(literal(name)); END"
            }
        }
        // A table that was renamed has triggers that count for its old name.
        var present: Set<String> = []
        var stale: [String] = []
        let triggers =
            #"SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '\_group\_%' ESCAPE '\'"#
        try connection.run(triggers) { row in
            guard case .text(let name)? = row.values.first else { return true }
            if let sql = wanted[name], row.values.last == .text(sql) {
                present.insert(name)
            } else {
                stale.append(name)
            }
            return true
        }
        for name in stale { try connection.run("DROP TRIGGER \(quoted(name))") }
        for (name, sql) in wanted where !present.contains(name) { try connection.run(sql) }
    }

    /// Returns whether no table lacks triggers.
    static func areComplete(in connection: Connection) throws -> Bool {
        let lacking = try connection.integer(
            """
            SELECT (SELECT count(*) FROM sqlite_schema WHERE name = '\(table)') = 0 OR count(*) > 0
            FROM pragma_table_list AS t
            WHERE t.schema = 'main' AND t.type = 'table' AND \(isUsers) AND \(lacksTriggers)
            """)
        return lacking == 0
    }

    /// Returns the number of each table, and whether there are tables without triggers: those of other programs, and
    /// virtual ones.
    static func numbers(in connection: Connection) throws -> (numbers: [String: Int64], hasOthers: Bool) {
        var numbers: [String: Int64] = [:]
        let isThere = try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = ?", table) == 1
        if isThere {
            try connection.run("SELECT table_name, number FROM \(table)") { row in
                if case .text(let name)? = row.values.first, case .integer(let number)? = row.values.last {
                    numbers[name] = number
                }
                return true
            }
        }
        let others = try connection.integer(
            """
            SELECT count(*) FROM pragma_table_list AS t
            WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND \(isUsers) AND \(lacksTriggers)
            """)
        return (numbers, others ?? 0 > 0)
    }

    private static func texts(of query: String, in connection: Connection) throws -> [String] {
        var texts: [String] = []
        try connection.run(query) { row in
            if case .text(let text)? = row.values.first { texts.append(text) }
            return true
        }
        return texts
    }

    private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
#endif
