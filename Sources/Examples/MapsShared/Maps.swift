package import GroupContainer
import Transfers

/// The maps of the container: a list of those that are wanted, their files, and the transfers between.
package struct Maps {
    package static let scheme = "maps"
    package static let group = "group.com.example.maps"
    package static let list: ItemPath = "Library/maps.json"

    /// A map that is wanted, with the transfer that loads it.
    package struct Map: Codable, Equatable {
        package let name: String
        package let url: String
        package var transfer: String?
        /// Whether the app has shown the map after it had arrived.
        package var isShown = false
    }

    private let container: Container
    private let coordinator: BlockingCoordinator
    private let transfers: Transfers

    package init(in container: Container) throws {
        self.container = container
        coordinator = container.coordinator(purpose: "maps").blocking
        transfers = try Transfers(container)
    }

    /// The file of a map; nil for a name that cannot be that of a file.
    package static func path(_ name: String) -> ItemPath? {
        name.isEmpty || name.contains("/") || name.hasPrefix(".") ? nil : ItemPath("Maps/\(name).map")
    }

    /// Puts a map on the list. The widget has it loaded.
    package func want(_ name: String, from url: String) throws {
        try coordinator.update(Self.list, default: [Map]()) { maps in
            maps.removeAll { $0.name == name }
            maps.append(Map(name: name, url: url))
        }
    }

    package func all() throws -> [Map] {
        do {
            return try coordinator.read(Self.list, as: [Map].self)
        } catch let error as CoordinationError where error.code == .notFound {
            return []
        }
    }

    /// Queues a download for each map that has none. The list names the transfer, so no other program queues it, too. A
    /// program that is killed before it has written the list leaves a download that another one queues again: the map
    /// is then loaded twice, and the second file replaces the first one.
    package func load() throws {
        guard try all().contains(where: { $0.transfer == nil }) else { return }
        try coordinator.update(Self.list, default: [Map]()) { maps in
            for index in maps.indices where maps[index].transfer == nil {
                guard let path = Self.path(maps[index].name) else { continue }
                maps[index].transfer = try transfers.download(
                    maps[index].url, to: path, opening: "\(Self.scheme)://\(maps[index].name)")
            }
        }
    }

    /// Takes the messages about maps that are over. Returns those that have arrived.
    package func show() throws -> [String] {
        let listener = try GroupChannel(container, name: Transfers.channel).listener(
            named: Transfers.listener, since: .start)
        var arrived: [String] = []
        while let message = try listener.next(timeout: .zero) {
            let result = try? message.decode(as: TransferResult.self)
            try coordinator.update(Self.list, default: [Map]()) { maps in
                for index in maps.indices where maps[index].transfer == result?.id && result?.state == .completed {
                    maps[index].isShown = true
                    arrived.append(maps[index].name)
                }
            }
            try listener.acknowledge(upTo: message.number)
        }
        return arrived
    }

    /// How far a map is, for people.
    package func text(_ map: Map) -> String {
        guard let transfer = map.transfer.flatMap({ transfers.transfer($0) }) else { return "wanted" }
        return switch transfer.state {
        case .completed: "\(transfer.received) bytes"
        case .failed: transfer.reason ?? "failed"
        case .cancelled: "cancelled"
        case .waiting, .running, .placing: "loading"
        }
    }
}
