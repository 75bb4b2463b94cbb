import Foundation
import GroupContainer
import TestSupport

/// The state of a container as members find it.
struct ContainerState: Equatable, Sendable {
    /// The content of each file; "/" for a directory.
    var tree: [String: String] = [:]
    /// The keys of the suite "standard".
    var keys: [String: DefaultsValue] = [:]
    /// The messages of the channel "news" that the listener "one" has not acknowledged.
    var messages: [String] = []
    var listeners: [String: UInt64] = [:]
    /// The files of widgets.
    var widgets: [String] = []
    /// The journal's changes, as kind and path, behind `!` if not coordinated.
    var recorded: [String] = []

    /// The item that is written to find out whether anything is in the way.
    static let probe = "probe"

    /// The state of no container.
    init() {}

    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    func recording(_ record: String) -> Self { with { $0.recorded.append(record) } }

    /// Reads the state of a container as a member; the tree is read as every process sees it. The journal is read only
    /// if its changes have their numbers without a gap (`isNumbered`): not where a journal whose end is lost was cut.
    init(of container: TemporaryContainer, isNumbered: Bool = true) throws {
        tree = Self.tree(of: container)
        let member = try container.open()
        let below = { (directory: String) in
            (try? FileManager.default.subpathsOfDirectory(atPath: "\(container.path)/.group/\(directory)"))?.sorted()
                ?? []
        }
        if below("defaults").contains("standard") {
            let defaults = try GroupDefaults(member)
            // Throws if the suite is damaged.
            _ = try defaults.readVersion(forKey: "any")
            keys = defaults.dictionaryRepresentation()
        }
        if below("channels").contains("news") {
            let channel = try GroupChannel(member, name: "news")
            for listener in try channel.listeners() { listeners[listener.name] = listener.acknowledgedNumber }
            let listener = try channel.listener(named: "one")
            while let message = try listener.next(timeout: .zero) {
                messages.append(String(decoding: message.bytes ?? [], as: UTF8.self))
            }
        }
        widgets = below("widgets").map { name in
            guard name.hasSuffix(".json") else { return name }
            let content = FileManager.default.contents(atPath: "\(container.path)/.group/widgets/\(name)") ?? Data()
            return (try? JSONSerialization.jsonObject(with: content)) == nil ? "\(name), torn" : name
        }
        if !isNumbered { return }
        // A process that follows may find no inotify instance left on a busy machine.
        recorded = try container.changes(member)
            .filter { $0.path != ItemPath(Self.probe) && $0.kind.name != "degraded" }
            .map { "\($0.isCoordinated ? "" : "!")\($0.kind.name) \($0.path)" }
    }

    /// Reads the tree without joining.
    static func tree(of container: TemporaryContainer) -> [String: String] {
        var found: [String: String] = [:]
        for path in (try? FileManager.default.subpathsOfDirectory(atPath: container.path)) ?? [] {
            if path.hasPrefix(".group") || path == probe { continue }
            let content = FileManager.default.contents(atPath: "\(container.path)/\(path)")
            found[path] = content.map { String(decoding: $0, as: UTF8.self) } ?? "/"
        }
        return found
    }

    /// Describes the differences in short.
    func difference(from other: Self) -> String {
        func pair<Value: Equatable>(_ name: String, _ part: KeyPath<Self, Value>) -> String? {
            let (mine, its) = (self[keyPath: part], other[keyPath: part])
            return mine == its ? nil : "\(name) \("\(mine)".prefix(400)) rather than \("\(its)".prefix(400))"
        }
        return [
            pair("tree", \.tree), pair("keys", \.keys), pair("messages", \.messages), pair("listeners", \.listeners),
            pair("widgets", \.widgets), pair("recorded", \.recorded),
        ].compactMap { $0 }.joined(separator: "; ")
    }
}

extension TemporaryContainer {
    /// Changes a byte of a file, past the library.
    func flipByte(of file: String, at place: Int) throws {
        guard let handle = FileHandle(forUpdatingAtPath: "\(path)/\(file)") else {
            throw Failed(description: "there is no \(file)")
        }
        try handle.seek(toOffset: UInt64(place))
        let byte = try handle.read(upToCount: 1)?.first ?? 0
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: Data([byte ^ 4]))
        try handle.close()
    }

    /// Changes a byte in the middle of a text that is there once.
    func flipByte(of file: String, of text: String) throws {
        let content = FileManager.default.contents(atPath: "\(path)/\(file)") ?? Data()
        guard let place = content.range(of: Data(text.utf8)) else { throw Failed(description: "no \(text) in \(file)") }
        try flipByte(of: file, at: place.lowerBound + 1)
    }
}
