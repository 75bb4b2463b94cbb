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

    /// Switches to another way. The text is in the new place before a reader looks there, and is then removed from the
    /// old one.
    package func choose(_ way: NoteWay) throws {
        let old = self.way
        if way == old { return }
        if let text = try read() { try save(text, by: way) }
        try defaults.set(way.rawValue, for: .way)
        try clear(old)
    }

    package func save(_ text: String) throws { try save(text, by: way) }

    private func save(_ text: String, by way: NoteWay) throws {
        switch way {
        case .file: _ = try coordinator.write(bytes: Array(text.utf8), to: Self.path)
        case .defaults: try defaults.set(text, for: .note)
        }
    }

    /// Returns the text; nil if there is none.
    package func read() throws -> String? {
        while true {
            let way = way
            if let text = try read(by: way) { return text }
            // The text may have been moved to the other place since the way was read.
            if self.way == way { return nil }
        }
    }

    private func read(by way: NoteWay) throws -> String? {
        switch way {
        case .file:
            do {
                return String(decoding: try coordinator.readBytes(Self.path), as: UTF8.self)
            } catch let error as CoordinationError where error.code == .notFound {
                return nil
            }
        case .defaults: return defaults.string(forKey: "note")
        }
    }

    package func clear() throws { try clear(way) }

    private func clear(_ way: NoteWay) throws {
        switch way {
        case .file:
            do {
                try coordinator.remove(Self.path)
            } catch let error as CoordinationError where error.code == .notFound {
                // Nothing to remove.
            }
        case .defaults: try defaults.removeValue(forKey: "note")
        }
    }
}
