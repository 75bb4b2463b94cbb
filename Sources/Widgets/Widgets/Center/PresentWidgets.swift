import FoundationEssentials
public import GroupContainer
import GroupSystemCalls

/// A widget that a host shows, or could show.
public struct PresentWidget: Codable, Hashable, Sendable {
    /// The widget's kind.
    public var kind: String
    /// Whether the widget is visible now.
    public var isVisible: Bool
    /// The display mode of the widget.
    public var displayMode: WidgetDisplayMode
    /// The process identifier of the host.
    public var hostProcess: Int32

    /// Creates the description of a widget that a host shows.
    public init(kind: String, isVisible: Bool, displayMode: WidgetDisplayMode, hostProcess: Int32) {
        self.kind = kind
        self.isVisible = isVisible
        self.displayMode = displayMode
        self.hostProcess = hostProcess
    }
}

extension WidgetCenter {
    /// Returns the widgets that hosts show, sorted by kind, without those of hosts that died. Errors: `damaged`
    public func presentWidgets() throws(CoordinationError) -> [PresentWidget] {
        var present: [PresentWidget] = []
        for (key, value) in defaults.dictionaryRepresentation() {
            guard let host = HostRegistration.host(ofKey: key), case .json(let content) = value,
                try Presence.isThere(HostRegistration.presence(of: host), in: container),
                let widgets = try? JSONDecoder().decode([PresentWidget].self, from: Data(content))
            else { continue }
            present += widgets
        }
        return present.sorted { ($0.kind, $0.hostProcess) < ($1.kind, $1.hostProcess) }
    }
}

/// A host's entry in the registry of present widgets. After the end of the host's process, readers ignore the entry,
/// and the next host removes it.
package final class HostRegistration: Sendable {
    private let center: WidgetCenter
    private let key: String
    private let presence: Presence

    private static let prefix = "host/"

    package init(_ center: WidgetCenter) throws(CoordinationError) {
        self.center = center
        let host = "\(processIdentifier())-\(monotonicNanoseconds())"
        key = Self.prefix + host
        presence = try Presence(Self.presence(of: host), in: center.container)
        try sweep()
    }

    static func host(ofKey key: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
    }

    static func presence(of host: String) -> String { "widget host \(host)" }

    /// Replaces the widgets that the host shows.
    package func show(_ widgets: [PresentWidget]) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let content = try? encoder.encode(widgets) else { return }
        try center.defaults.set(.json(Array(content)), forKey: key)
    }

    /// Removes the host's entry.
    package func end() throws(CoordinationError) { try center.defaults.removeValue(forKey: key) }

    /// Removes the entries of hosts that died.
    private func sweep() throws(CoordinationError) {
        for other in center.defaults.dictionaryRepresentation().keys {
            guard let host = Self.host(ofKey: other) else { continue }
            if try !Presence.isThere(Self.presence(of: host), in: center.container) {
                try center.defaults.removeValue(forKey: other)
            }
        }
    }
}
