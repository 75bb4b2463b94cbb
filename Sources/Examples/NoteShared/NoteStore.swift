package import GroupContainer

/// The way from the app's text to its widget.
package enum NoteWay: String, Sendable, CaseIterable {
    /// A file of the container.
    case file
    /// A key of the group defaults.
    case defaults
}

extension GroupDefaults.Key<String> {
    static let note = Self("note", default: "")
    static let way = Self("way", default: NoteWay.file.rawValue)
}

/// The text that app and widget share, in a file or in the defaults.
package struct NoteStore: Sendable {
    private let coordinator: BlockingCoordinator
    private let defaults: GroupDefaults

    package static let path: ItemPath = "Library/note.txt"
    package static let suite = "note"

    package init(_ container: Container) throws {
        coordinator = container.coordinator(purpose: "note").blocking
        defaults = try GroupDefaults(container, suite: Self.suite)
    }

    /// The way that is used now.
    package var way: NoteWay { NoteWay(rawValue: defaults[.way]) ?? .file }

    /// Switches to another way, under the lock of the file, which each save takes, too: no save goes to the old way
    /// meanwhile. A reader finds the text before and after.
    package func choose(_ way: NoteWay) throws {
        try coordinator.coordinate(.writing(Self.path)) { access in
            let old = self.way
            if way == old { return }
            let text = old == .file ? try Self.read(by: access) : defaults.string(forKey: "note")
            if let text { try save(text, by: way, access) }
            try defaults.set(way.rawValue, for: .way)
            try clear(old, access)
        }
    }

    private static let largest: UInt64 = 1 << 20

    /// The error of a file that is no note.
    package struct TooLarge: Error, CustomStringConvertible {
        let size: UInt64
        package var description: String {
            "the note '\(path)' has \(size) bytes, and is not read: a note has at most 1 MiB"
        }
    }

    package func save(_ text: String) throws {
        try coordinator.coordinate(.writing(Self.path)) { access in try save(text, by: way, access) }
    }

    private func save(_ text: String, by way: NoteWay, _ access: Access) throws {
        switch way {
        case .file: _ = try access.write(bytes: Array(text.utf8), to: Self.path)
        // Durable, so that a container that was removed refuses it.
        case .defaults: try defaults.set(text, for: .note, durability: .durable)
        }
    }

    /// Returns the text; nil if there is none.
    package func read() throws -> String? {
        while true {
            let way = way
            if let text = try read(by: way) { return text }
            // The text may have been moved to the other way since the way was read.
            if self.way == way { return nil }
        }
    }

    private func read(by way: NoteWay) throws -> String? {
        switch way {
        case .file: try coordinator.coordinate(.reading(Self.path)) { access in try Self.read(by: access) }
        case .defaults: defaults.string(forKey: "note")
        }
    }

    private static func read(by access: Access) throws -> String? {
        guard let item = try access.item(path) else { return nil }
        if item.size > largest { throw TooLarge(size: item.size) }
        return String(decoding: try access.readBytes(path), as: UTF8.self)
    }

    package func clear() throws {
        try coordinator.coordinate(.writing(Self.path)) { access in try clear(way, access) }
    }

    private func clear(_ way: NoteWay, _ access: Access) throws {
        switch way {
        case .file: if try access.item(Self.path) != nil { try access.remove(Self.path) }
        case .defaults: try defaults.removeValue(forKey: "note")
        }
    }
}
