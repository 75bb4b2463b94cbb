import Foundation
import GroupContainer
import Widgets

/// What the app and its widget both know.
public enum Shelf {
    public static let group = "group.com.example.shelf"

    public static func put(_ thing: String, in container: Container) async throws {
        let coordinator = container.coordinator(purpose: "shelf")
        try await coordinator.update("things.json", default: [String]()) { $0.append(thing) }
    }
}

/// Shows the latest thing, and that it is old after an hour.
public struct LatestThing: WidgetProvider {
    public static let kind = "latest-thing"
    public let interests: [WidgetInterest] = [.path("things.json")]
    private let clock: any WidgetClock

    public init(clock: any WidgetClock = SystemWidgetClock()) { self.clock = clock }

    public func snapshot(in context: WidgetContext) async throws -> String {
        try await context.coordinator.read("things.json", as: [String].self).last ?? "nothing"
    }

    public func timeline(in context: WidgetContext) async throws -> Timeline<String> {
        let thing = try await snapshot(in: context)
        let later = Timeline.Entry(date: clock.date.addingTimeInterval(3_600), snapshot: "still \(thing)")
        return Timeline(first: .init(snapshot: thing), later: [later])
    }
}
