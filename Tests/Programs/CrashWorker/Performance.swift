import GroupContainer
import RawRecords
import Widgets

/// Carries out the steps of a plan in a container, as an app or a widget would.
struct Performance {
    let container: Container
    let items: BlockingCoordinator

    init(_ container: Container) {
        self.container = container
        items = container.coordinator(purpose: "crash-worker").blocking
    }

    /// Makes a container with what `CrashModel` begins with; its journal has segments of 64 KiB.
    static func prepare(_ path: String) async throws {
        let new = Performance(
            try Container(path: path, creating: true, retention: JournalRetention(size: 128 << 10)))
        for (item, content) in CrashModel().items.sorted(by: { $0.key < $1.key }) { try new.write(content, to: item) }
        let suite = try GroupDefaults(new.container, suite: "suite")
        try suite.set(0, forKey: "begun", durability: .durable)
        _ = try GroupChannel(new.container, name: "channel").listener(named: "listener", since: .start)
    }

    func perform(_ step: CrashStep, number: Int) async throws {
        switch step {
        case .write: try write("a \(number)", to: "a")
        case .writeLarge: try write("large \(number)", to: "new/directory/large")
        case .update: _ = try items.update("n", default: 0) { $0 += 1 }
        case .remove:
            if try exists("dir/b") { try items.remove("dir/b") } else { try write("b \(number)", to: "dir/b") }
        case .move:
            if try exists("here") { try items.move("here", to: "there") } else { try items.move("there", to: "here") }
        case .moveDirectory:
            let isHere = try exists("tree/one")
            try items.move(isHere ? "tree" : "far/tree", to: isHere ? "far/tree" : "tree")
        case .copy: _ = try items.copy("a", to: "copy", replacing: true)
        case .transaction:
            let (from, to): (ItemPath, ItemPath) = try exists("t3") ? ("t3", "t4") : ("t4", "t3")
            _ = try items.transaction(.writing("t1"), .writing("t2"), .writing(from, .forMoving), .writing(to)) {
                access in
                for item in ["t1", "t2"] as [ItemPath] {
                    _ = try access.write(bytes: CrashModel.bytes(of: "\(item) \(number)"), to: item)
                }
                try access.move(from, to: to)
            }
        case .relaxed:
            _ = try items.write(
                bytes: CrashModel.bytes(of: "r \(number)"), to: ItemPath(CrashModel.relaxedItem), durability: .relaxed)
        case .set: try suite().set(number, forKey: "k")
        case .setDurable: try suite().set(number, forKey: "k", durability: .durable)
        case .setTwo:
            _ = try suite().transaction(durability: .durable) { keys in
                keys.set(.integer(number), forKey: "k1")
                keys.set(.integer(number), forKey: "k2")
            }
        case .compact, .compactDurable:
            let suite = try suite()
            // More than a segment holds.
            for _ in 0..<6 {
                try suite.set(DefaultsValue.data(CrashModel.filling), forKey: CrashModel.filler)
            }
            try suite.set(number, forKey: "k", durability: step.isDurable ? .durable : .relaxed)
        case .post, .postDurable: _ = try post(number, durability: step.isDurable ? .durable : .relaxed)
        case .acknowledge: try acknowledge()
        case .compactChannel:
            let channel = try channel()
            for _ in 0..<6 { _ = try channel.post(bytes: CrashModel.filling) }
            try acknowledge()
            _ = try post(number, durability: .durable)
        case .rotate:
            let long = ItemPath(String(repeating: "x", count: 4_000))
            for _ in 0..<17 { _ = try container.appendRawRecord(naming: long) }
            try write("a \(number)", to: "a")
        case .refresh: _ = try await WidgetRefresh(CrashWidget(), in: container).performUpdate()
        }
    }

    func write(_ content: String, to path: String) throws {
        _ = try items.write(bytes: CrashModel.bytes(of: content), to: ItemPath(path))
    }

    private func exists(_ path: String) throws -> Bool {
        let path = ItemPath(path)
        return try items.coordinate(.reading(path)) { try $0.item(path) != nil }
    }

    func suite() throws -> GroupDefaults { try GroupDefaults(container, suite: "suite") }

    func channel() throws -> GroupChannel { try GroupChannel(container, name: "channel") }

    private func post(_ number: Int, durability: Durability) throws -> UInt64 {
        try channel().post(bytes: Array("\(number)".utf8), durability: durability)
    }

    /// Acknowledges everything as the listener.
    private func acknowledge() throws {
        let listener = try channel().listener(named: "listener")
        var last: UInt64?
        while let message = try listener.next(timeout: .zero) { last = message.number }
        if let last { try listener.acknowledge(upTo: last, durability: .durable) }
    }
}

/// A widget that shows the content of "a".
struct CrashWidget: WidgetProvider {
    static let kind = "crash"
    var interests: [WidgetInterest] { [.path("a")] }

    func snapshot(in context: WidgetContext) async throws -> String {
        String(decoding: try await context.coordinator.readBytes("a"), as: UTF8.self)
    }
}
