import GroupContainer
import GroupSystemCalls

/// What happened since a widget's last refresh, as far as it concerns the widget, and the positions behind all of it.
struct Gathering {
    private(set) var changes: [Change] = []
    private(set) var keyChanges: [DefaultsChange] = []
    /// Whether the changes are not known in full, so that anything may be different.
    private(set) var isLost = false
    private(set) var cursor: Cursor
    private let concerns: Concerns
    private(set) var suites: [String: WidgetRecord.SuitePosition] = [:]

    /// Gathers the changes since `previous`. A widget that was never refreshed (nil) begins at the present, as its
    /// first snapshot shows all earlier changes.
    init(_ concerns: Concerns, since previous: WidgetRecord?, in container: Container) throws(CoordinationError) {
        self.concerns = concerns
        let origin = previous.map { ChangeOrigin.cursor($0.cursor) } ?? .now
        let concern = concerns.itemConcern
        if concern != nil { try container.noteUncoordinatedChanges() }
        var reader = try container.recordedChanges(
            since: concern == nil ? .now : origin, matching: concern?.filter ?? .everything)
        while let concern, let change = try reader.next(timeout: .zero) {
            if case .rescan = change.kind { isLost = true }
            // A watch gap is nothing new to show.
            if !change.kind.isMarker, concern.isNews(change) { changes.append(change) }
        }
        cursor = reader.cursor
        var suites = concerns.suites
        if concerns.isEverything {
            // The last refresh read every suite that there was: one that it has not read is new.
            let before = previous.map { Array($0.suites.keys) } ?? []
            for suite in container.suiteNames() + before { suites[suite] = .all }
        }
        for (suite, keys) in suites.sorted(by: { $0.key < $1.key }) {
            let position = previous?.suites[suite] ?? (concerns.isEverything && previous != nil ? .absent : nil)
            let found = try SuiteChanges(of: suite, keys, since: position, in: container)
            // A key that was set to the value that it had is nothing new to show.
            keyChanges += found.changes.filter { $0.kind != .set || $0.oldValue != $0.newValue }
            isLost = isLost || found.isLost
            self.suites[suite] = found.position
        }
    }
    /// Moves the positions past what the renderer has changed since, up to the first other change.
    mutating func passOverChanges(by renderer: Renderer, in container: Container) throws(CoordinationError) {
        if let concern = concerns.itemConcern {
            var reader = try container.recordedChanges(since: .cursor(cursor), matching: concern.filter)
            repeat { cursor = reader.cursor } while try renderer.made(reader.next(timeout: .zero)?.author)
        }
        for case (let suite, .behind(let cursor)) in suites {
            let keys = concerns.keys(of: suite)?.names
            var reader = try GroupDefaults(container, suite: suite).follow(of: keys, since: .cursor(cursor))
            repeat {
                suites[suite] = .behind(reader.cursor)
            } while try renderer.made(reader.next(timeout: .zero)?.author)
        }
    }
}

/// Whose changes during a refresh are the widget's own.
package enum Renderer: Sendable {
    /// Those of this process, which is there for the widget alone.
    case process
    /// Those of this process for a purpose: it does something else besides.
    case purpose(String)

    /// Returns whether the author of a change is the renderer; false for nil.
    func made(_ author: Change.Author?) -> Bool {
        guard let author, author.processIdentifier == processIdentifier() else { return false }
        return switch self {
        case .process: true
        case .purpose(let purpose): author.purpose == purpose
        }
    }
}
