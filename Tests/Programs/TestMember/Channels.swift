import Glibc
import GroupContainer
import GroupSystemCalls

/// Posts messages, and prints each with its number.
func post(to channel: String, of path: String, tag: String, count: Int, thinking: Int64) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    let filling = String(repeating: ".", count: 200)
    for number in stride(from: 1, through: count, by: 1) {
        printLine("posted \(tag) \(number) \(try channel.post(bytes: Array("\(tag) \(number) \(filling)".utf8)))")
        if thinking > 0 { pause(nanoseconds: thinking) }
    }
}

/// Prints each message and each acknowledgement; acknowledges several at once.
func listen(to channel: String, of path: String, as name: String, every: UInt64) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    let listener = try channel.listener(named: name, since: .start)
    printLine("listening 0")
    while let message = try listener.next() {
        let words = String(decoding: message.bytes ?? [], as: UTF8.self).split(separator: " ")
        printLine("got \(words.dropLast().joined(separator: " ")) \(message.number)")
        if message.number.isMultiple(of: every) {
            try listener.acknowledge(upTo: message.number)
            printLine("acknowledged \(message.number)")
        }
    }
}

/// Listens, and forks a child that tries what its parent may do, and stays until the input ends.
func listenAndFork(to channel: String, of path: String, as name: String) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    let listener = try channel.listener(named: name)
    if forkWithoutExec() == 0 {
        for work in [
            { try channel.signal() }, { try listener.next(timeout: .zero)?.number ?? 0 },
            {
                try listener.acknowledge(upTo: 0)
                return 0
            },
        ] as [() throws -> UInt64] {
            do { printLine("child \(try work())") } catch {
                printLine("child \((error as? CoordinationError)?.code.rawValue ?? "")")
            }
        }
        printLine("child stays")
        while nextLine() != nil {}
        _exit(0)
    }
    while nextLine() != nil {}
    printLine("\(listener.name) ends")
}

/// Prints the listeners, and whether anything can be changed.
func list(_ channel: String, of path: String) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    for listener in try channel.listeners() {
        printLine("\(listener.name) has \(listener.acknowledgedNumber), \(listener.waitingCount) wait")
    }
    for work in [
        { _ = try channel.signal() }, { _ = try channel.listener(named: "new") },
        { _ = try channel.removeListener(named: "one") },
    ] as [() throws -> Void] {
        do {
            try work()
            printLine("done")
        } catch {
            printLine((error as? CoordinationError)?.code.rawValue ?? "")
        }
    }
}

func postDurably(to channel: String, of path: String, _ text: String) throws {
    printLine(
        "\(try GroupChannel(Container(path: path), name: channel).post(bytes: Array(text.utf8), durability: .durable))")
}

func fill(_ channel: String, of path: String, _ text: String) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    printLine("\(try channel.post(bytes: Array(text.utf8), durability: .durable))")
    for number in 1...12 {
        let filling = [UInt8](repeating: UInt8(ascii: "."), count: 48_000)
        printLine("\(try channel.post(bytes: Array("\(number) ".utf8) + filling))")
    }
}

func take(from channel: String, of path: String, as name: String) throws {
    let listener = try GroupChannel(Container(path: path), name: channel).listener(named: name, since: .start)
    var last: UInt64 = 0
    while let message = try listener.next(timeout: .zero) {
        printLine(String(decoding: message.bytes ?? [], as: UTF8.self))
        last = message.number
    }
    try listener.acknowledge(upTo: last, durability: .durable)
}
