import MapsShared
import WidgetCommands
import Widgets

// The widget of the maps: has the wanted ones loaded, and shows how far they are. The downloads do not need the widget:
// it may be killed at any time.

struct MapsWidget: WidgetProvider {
    static let kind = "maps"
    var interests: [WidgetInterest] { [.path("\(Maps.list)"), .path("Maps/*")] }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let maps = try Maps(in: context.container)
        try maps.load()
        let lines = try maps.all().map {
            WidgetView.Line("\($0.name): \(maps.text($0))", url: "\(Maps.scheme)://\($0.name)")
        }
        return WidgetView(title: "Maps", lines: lines.isEmpty ? [.init("no maps", .secondary)] : lines)
    }
}

WidgetCommand.main(
    name: "maps-widget", summary: "Loads the wanted maps, and shows how far they are.", group: Maps.group,
    provider: MapsWidget())
