import GroupContainer
import TestSupport
import Widgets

extension Part {
    func set() throws {
        let keys = try GroupDefaults(Container(path: path), suite: "storm")
        try takeTurns {
            let durability: Durability = draw(0..<10) == 0 ? .durable : .relaxed
            if draw(0..<3) > 0 {
                try trying("key") { _ in
                    _ = try keys.update(GroupDefaults.Key<Int>("n", default: 0), durability: durability) { $0 += 1 }
                }
            } else {
                try trying("set") { try keys.set($0, forKey: name, durability: durability) }
            }
        }
    }

    func post() throws {
        let channel = try GroupChannel(Container(path: path), name: "storm")
        let filling = String(repeating: ".", count: 200)
        try takeTurns {
            try trying("post") { number in
                printLine(
                    "posted \(name) \(number) \(try channel.post(bytes: Array("\(name) \(number) \(filling)".utf8)))")
            }
        }
    }

    func listen() throws {
        let channel = try GroupChannel(Container(path: path), name: "storm")
        var listener: GroupListener?
        try takeTurns(within: 2) {
            // Where the disk is full, the listener is made as soon as there is room.
            guard let present = listener else {
                return try attempt {
                    listener = try channel.listener(named: name, since: .start)
                    printLine("listening")
                }
            }
            while let message = try present.next(timeout: .milliseconds(20)) {
                let words = String(decoding: message.bytes ?? [], as: UTF8.self).split(separator: " ")
                printLine("got \(words.dropLast().joined(separator: " ")) \(message.number)")
                if message.number.isMultiple(of: 5) {
                    try attempt {
                        try present.acknowledge(upTo: message.number)
                        printLine("acknowledged \(message.number)")
                    }
                    break
                }
            }
        }
    }

    func refresh() async throws {
        let widget = WidgetRefresh(StormWidget(), in: try Container(path: path))
        try await takeTurns(within: 50) { printLine("refresh \(try await widget.performUpdate())") }
    }

    func openAndLeave() throws {
        try takeTurns(within: 50) {
            let items = try Container(path: path).coordinator(purpose: name).blocking
            if draw(0..<2) == 0 { printLine("read \(try items.read("n", as: Int.self))") }
        }
    }
}

/// A widget that shows the number.
struct StormWidget: WidgetProvider {
    static let kind = "storm"
    var interests: [WidgetInterest] { [.path("n")] }

    func snapshot(in context: WidgetContext) async throws -> Int {
        try await context.coordinator.read("n", as: Int.self)
    }
}
