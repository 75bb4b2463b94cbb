#if SQLite
// A process that opens a database of a container, for tests that run several of them, and kill some.
import Glibc
import GroupContainer
import GroupDatabase

let usage = """
    usage: database-member open CONTAINER PATH              open with three steps, each of which notes that it ran
           database-member insert CONTAINER PATH COUNT      insert rows, each by a transaction of its own
           database-member die CONTAINER PATH               insert a row, and be killed once it is committed
           database-member hold CONTAINER PATH              begin to write, say so, and wait for the end of the input
           database-member measure create DIRECTORY         make a container with a database, for tools/bench
           database-member measure insert DIRECTORY COUNT durable|relaxed
                                                            print the nanoseconds of each insertion
           database-member observe CONTAINER PATH TABLE…    print each change of the tables (none: of all)

    """

func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    if unsafe write(1, bytes, bytes.count) != bytes.count { exit(74) }
}

func awaitEndOfInput() {
    var byte: UInt8 = 0
    while unsafe read(0, &byte, 1) > 0 {}
}

let steps = (1...3).map { step in
    Migration("step \(step)") { db in
        if step == 1 {
            try db.execute("CREATE TABLE ran (step INTEGER NOT NULL)")
            try db.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, process INTEGER NOT NULL)")
        }
        if step == 2 { try db.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") }
        try db.execute("INSERT INTO ran VALUES (?)", step)
    }
}

func insert(into database: GroupDatabase) throws {
    try database.blocking.write { db in _ = try db.execute("INSERT INTO row (process) VALUES (?)", getpid()) }
}

let words = CommandLine.arguments
guard words.count >= 4 else {
    print(usage, terminator: "")
    exit(64)
}
if words[1] == "measure" {
    do {
        // The bench has its own directory `run` in there.
        let container = try Container(path: words[3], creating: words[2] == "create", adopting: true)
        let durability: Durability = words.last == "durable" ? .durable : .relaxed
        let database = try GroupDatabase("rows.sqlite", in: container, migrations: steps, durability: durability)
        let blocking = database.blocking
        for number in 0..<(words.count > 4 ? Int(words[4]) ?? 0 : 0) {
            let clock = ContinuousClock()
            let time = try clock.measure {
                try blocking.write { db in _ = try db.execute("INSERT INTO row (process) VALUES (?)", number) }
            }
            printLine("\(Int64(time / .nanoseconds(1)))")
        }
        exit(0)
    } catch {
        printLine("\(error)")
        exit(1)
    }
}
// However the test ends, the process does.
_ = alarm(120)
do {
    let database = try GroupDatabase(ItemPath(words[3]), in: Container(path: words[2]), migrations: steps)
    switch words[1] {
    case "open":
        printLine("open")
        awaitEndOfInput()
    case "insert":
        for _ in 0..<(words.count > 4 ? Int(words[4]) ?? 0 : 0) { try insert(into: database) }
        printLine("inserted")
    case "die":
        try insert(into: database)
        kill(getpid(), SIGKILL)
    case "hold":
        try database.blocking.write { db in
            try db.execute("INSERT INTO row (process) VALUES (?)", getpid())
            printLine("writing")
            awaitEndOfInput()
        }
    case "observe":
        let tables = Set(words.dropFirst(4))
        var follower = try database.blocking.follow(tables: tables)
        printLine("observing")
        while let change = try follower.next() {
            let rows = change.rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            printLine((rows + (change.mayConcernOthers ? ["others"] : [])).joined(separator: " "))
        }
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("\(error)")
    exit(1)
}
#endif
