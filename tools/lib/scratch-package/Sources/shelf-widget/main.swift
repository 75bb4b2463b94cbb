import GroupContainer
import ShelfShared
import Widgets

let container = try Container(group: Shelf.group)
let result = try await WidgetRefresh(LatestThing(), in: container).performUpdate { print($0) }
print(result)
