public import Foundation
import Widgets

/// What a widget shows from a date on.
public protocol TimelineEntry {
    /// The date from which the entry is shown. The first entry is shown before its date, too.
    var date: Date { get }

    /// The importance of the entry; no host uses it. By default nil.
    var relevance: TimelineEntryRelevance? { get }
}

extension TimelineEntry {
    /// Nil: no importance is known.
    public var relevance: TimelineEntryRelevance? { nil }
}

/// The importance of an entry among the other entries of its widget.
public struct TimelineEntryRelevance: Codable, Hashable, Sendable {
    /// The importance, on a scale of the provider's own.
    public var score: Float
    /// How long the entry has that importance, in seconds; 0: until the next entry.
    public var duration: TimeInterval

    /// Creates the importance of an entry.
    public init(score: Float, duration: TimeInterval = 0) { (self.score, self.duration) = (score, duration) }
}

/// What a widget shows now and later, so that changes by time alone need no refresh.
public struct Timeline<EntryType: TimelineEntry> {
    /// The entries.
    public let entries: [EntryType]
    /// When to refresh the widget although nothing that concerns it has changed.
    public let policy: TimelineReloadPolicy

    /// Creates a timeline. The entries may come in any order; of two entries for the same date, the later one counts.
    public init(entries: [EntryType], policy: TimelineReloadPolicy) { (self.entries, self.policy) = (entries, policy) }
}

extension Timeline: Sendable where EntryType: Sendable {}

/// When to refresh a widget although nothing that concerns it has changed.
///
/// A date that has already come when the timeline is made becomes one five minutes later, so that a provider whose only
/// entry is for the present does not run all the time.
public struct TimelineReloadPolicy: Equatable, Sendable {
    enum Policy: Equatable, Sendable {
        case atEnd, never
        case after(Date)
    }

    let policy: Policy

    /// When the last entry's date has come.
    public static let atEnd = Self(policy: .atEnd)
    /// Not at all: only after a change, or a reload request.
    public static let never = Self(policy: .never)
    /// Returns the policy for a refresh at a date.
    public static func after(_ date: Date) -> Self { Self(policy: .after(date)) }
}

/// A provider's timeline after its entries were rendered.
struct RenderedTimeline: Sendable {
    /// The views from the present one on, with the dates from which they are shown. The present one has no date: views
    /// that look the same are then equal, also where an entry's date is the moment at which it was made.
    private(set) var entries: [Widgets.Timeline<WidgetView>.Entry] = []
    let policy: TimelinePolicy

    /// The shortest time to a refresh whose date has already come.
    private static let shortestInterval: TimeInterval = 300

    init<Entry>(_ timeline: Timeline<Entry>, at now: Date, _ view: (Entry) -> WidgetView) {
        let sorted = timeline.entries.enumerated().sorted {
            ($0.element.date, $0.offset) < ($1.element.date, $1.offset)
        }.map(\.element)
        let present = sorted.lastIndex { $0.date <= now } ?? 0
        for (index, entry) in sorted.enumerated().dropFirst(present) {
            entries.append(.init(date: index == present ? nil : entry.date, snapshot: view(entry)))
        }
        let date: Date
        switch timeline.policy.policy {
        case .never:
            policy = .never
            return
        case .atEnd: date = sorted.last?.date ?? now
        case .after(let moment): date = moment
        }
        policy = .after(date > now ? date : now.addingTimeInterval(Self.shortestInterval))
    }
}
