import Glibc
import GroupContainer

func transact(in container: String, count: Int) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    for number in stride(from: 1, through: count, by: 1) {
        let (_, generation) = try coordinator.transaction(.writing("a"), .writing("b"), durability: .relaxed) {
            access in
            for item in ["a", "b"] as [ItemPath] {
                try access.write(bytes: Array("\(getpid()) \(number)".utf8), to: item)
            }
        }
        if let generation { printLine("\(generation)") }
    }
}

func transactThree(in container: String, directory: String, _ text: String, durability: Durability) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    let new = ItemPath("\(directory)/new")
    let (_, generation) = try coordinator.transaction(
        .writing(new), .writing("kept"), .writing("gone"), durability: durability
    ) { access in
        try access.write(bytes: Array(text.utf8), to: new)
        try access.write(bytes: Array(text.utf8), to: "kept")
        try access.remove("gone")
    }
    if let generation { printLine("\(generation)") }
}

/// Rotates a log: `log.1` replaces `log.2`, and `log` becomes `log.1`; a new `log` is written and copied, and a
/// directory is moved.
func transactRound(in container: String, durability: Durability) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    let (_, generation) = try coordinator.transaction(
        .writing("log", .forMoving), .writing("log.1", .forMoving), .writing("log.2", .forReplacing),
        .writing("old/directory", .forMoving), .writing("new/directory", .forMoving), .writing("copy"),
        durability: durability
    ) { access in
        try access.move("log.1", to: "log.2", replacing: true)
        try access.move("log", to: "log.1")
        try access.write(bytes: Array("new".utf8), to: "log")
        try access.copy("log", to: "copy")
        try access.move("old/directory", to: "new/directory")
    }
    if let generation { printLine("\(generation)") }
}

func transactOn(in container: String) throws {
    do {
        try transactThree(in: container, directory: "directory", "text", durability: .durable)
    } catch let error as CoordinationError {
        printLine(error.code.rawValue)
    }
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    while nextLine() != nil { printLine(String(decoding: try coordinator.readBytes("kept"), as: UTF8.self)) }
}
