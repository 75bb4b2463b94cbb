import GroupContainer
import ShelfShared
import WidgetApp

let container = try Container(group: Shelf.group, creating: true)
let presence = try AppPresence(container)
try presence.becomeActive()
for thing in CommandLine.arguments.dropFirst() { try await Shelf.put(thing, in: container) }
print("put \(CommandLine.arguments.count - 1)")
try presence.resignActive()
