import GroupContainer
import TestSupport

/// The items that the writers have in common: the number "n", and the pair, whose two items are always the same under a
/// lock. An item with a writer's name is that writer's own.
extension Part {
    func write() throws {
        let items = try Container(path: path).coordinator(purpose: name).blocking
        var last = 0
        try takeTurns {
            let durability: Durability = draw(0..<8) == 0 ? .durable : .relaxed
            switch draw(0..<20) {
            case 0..<6:
                try trying("n") { _ in _ = try items.update("n", default: 0, durability: durability) { $0 += 1 } }
            case 6..<9:
                try trying("own") { number in
                    _ = try items.write(
                        bytes: StormContent.bytes(name, number), to: ItemPath("own/\(name)"), durability: durability)
                }
            case 9..<11: try move(items, durability: durability)
            case 11: try removeOrWrite(items, durability: durability)
            case 12: try directory(items, durability: durability)
            case 13:
                _ = try items.copy(
                    ItemPath("own/\(name)"), to: ItemPath("copies/\(name)"), replacing: true, durability: durability)
            case 14..<17:
                try trying("pair") { number in
                    _ = try items.transaction(.writing("pair/x"), .writing("pair/y"), durability: durability) {
                        access in
                        for item in ["pair/x", "pair/y"] as [ItemPath] {
                            _ = try access.write(bytes: StormContent.bytes(name, number), to: item)
                        }
                    }
                }
            case 17..<19:
                let isSame = try items.coordinate(.reading("pair/x"), .reading("pair/y")) { access in
                    let (x, y) = (try access.item("pair/x") != nil, try access.item("pair/y") != nil)
                    if !x || !y { return x == y }
                    return try access.readBytes("pair/x") == access.readBytes("pair/y")
                }
                if !isSame { printLine("fault the pair is not the same") }
            default:
                let found = try items.read("n", as: Int.self)
                if found < last { printLine("fault n was \(last) and is \(found)") }
                last = found
            }
        }
    }

    private func exists(_ item: ItemPath, _ items: BlockingCoordinator) throws -> Bool {
        try items.coordinate(.reading(item)) { try $0.item(item) != nil }
    }

    /// No other writer moves this item.
    private func move(_ items: BlockingCoordinator, durability: Durability) throws {
        let (here, there) = (ItemPath("moves/\(name)"), ItemPath("moved/\(name)"))
        if try exists(here, items) {
            try trying("moved") { _ in try items.move(here, to: there, durability: durability) }
        } else if try exists(there, items) {
            try trying("moved") { _ in try items.move(there, to: here, durability: durability) }
        } else {
            try trying("moved") { number in
                _ = try items.write(bytes: StormContent.bytes(name, number), to: here, durability: durability)
            }
        }
    }

    private func removeOrWrite(_ items: BlockingCoordinator, durability: Durability) throws {
        let item = ItemPath("comes/\(name)")
        if try exists(item, items) {
            try trying("gone") { _ in try items.remove(item, durability: durability) }
        } else {
            try trying("came") { number in
                _ = try items.write(bytes: StormContent.bytes(name, number), to: item, durability: durability)
            }
        }
    }

    private func directory(_ items: BlockingCoordinator, durability: Durability) throws {
        if try exists(ItemPath("directories/\(name)"), items) {
            try items.remove(ItemPath("directories/\(name)"), recursively: true, durability: durability)
        } else {
            _ = try items.write(
                bytes: StormContent.bytes(name, 1), to: ItemPath("directories/\(name)/deep/item"),
                durability: durability)
        }
    }
}
