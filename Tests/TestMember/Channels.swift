import GroupContainer
import SystemCalls

/// Says what was posted, and its number.
func post(to channel: String, of path: String, tag: String, count: Int, thinking: Int64) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    let filling = String(repeating: ".", count: 200)
    for number in stride(from: 1, through: count, by: 1) {
        say("posted \(tag) \(number) \(try channel.post(bytes: Array("\(tag) \(number) \(filling)".utf8)))")
        if thinking > 0 { pause(nanoseconds: thinking) }
    }
}

/// Says what it gets and what it has acknowledged; acknowledges a few at once.
func listen(to channel: String, of path: String, as name: String, every: UInt64) throws {
    let channel = try GroupChannel(Container(path: path), name: channel)
    let listener = try channel.listener(named: name, from: .oldest)
    say("listening 0")
    while let message = try listener.next() {
        let words = String(decoding: message.bytes ?? [], as: UTF8.self).split(separator: " ")
        say("got \(words.dropLast().joined(separator: " ")) \(message.number)")
        if message.number.isMultiple(of: every) {
            try listener.acknowledge(upTo: message.number)
            say("acknowledged \(message.number)")
        }
    }
}
