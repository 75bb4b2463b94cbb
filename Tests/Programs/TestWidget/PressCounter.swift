import GroupContainer
import Widgets

/// A widget whose button counts in an item.
struct PressCounter: WidgetProvider {
    static let kind = "presses"
    let kind: String

    private struct Count: Codable {
        var number = 0
        var isOn = false
    }

    private var path: ItemPath { ItemPath("Library/\(kind)") }
    var interests: [WidgetInterest] { [.path("Library/\(kind)")] }

    func items(for action: WidgetAction) -> [AccessIntent] { [.writing(path)] }

    func perform(_ action: WidgetAction, on access: Access) throws {
        var count = try access.read(path, as: Count.self, default: Count())
        switch action.id {
        case "add": count.number += 1
        case "switch":
            count.number += 1
            count.isOn = action.isOn ?? false
        default: throw PressRefusal("there is no \(action.id)")
        }
        try access.write(json: count, to: path)
    }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let count = try await context.coordinator.read(path, as: Count.self, default: Count())
        return WidgetView(lines: [
            .init("\(count.number)", control: .button("add")),
            .init("switch", control: .toggle("switch", isOn: count.isOn)), .init("gone", control: .button("gone")),
        ])
    }
}
