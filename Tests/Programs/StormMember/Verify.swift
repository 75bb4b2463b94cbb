import Foundation
import GroupContainer
import TestSupport
import Widgets

/// Prints what is there now that no other process is; each lock has to be free.
func verify(_ path: String) async throws {
    let container = try Container(path: path)
    let items = container.coordinator(purpose: "verify").blocking
    let paths = (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? [])
        .filter { $0 != ".group" && !$0.hasPrefix(".group/") }
    for path in paths.sorted() { try items.coordinate(.writing(ItemPath(path)), timeout: .zero) { _ in } }
    printLine("locks \(paths.count)")
    var follower = try container.recordedChanges(since: .start)
    var changes: [Change] = []
    while let change = try follower.next(timeout: .zero) { changes.append(change) }
    let repeated = Invariants.repeatedOperations(in: changes.filter(\.isCoordinated))
    for line in repeated { printLine("fault \(line)") }
    let n = try items.read("n", as: Int.self)
    printLine("n \(n)")
    let keys = try GroupDefaults(container, suite: "storm").dictionaryRepresentation()
    for (key, value) in keys.sorted(by: { $0.key < $1.key }) { printLine("key \(key) \(value.integerValue ?? -1)") }
    let widget = WidgetRefresh(StormWidget(), in: container)
    let result = try await widget.performUpdate()
    let shown = try await widget.last()?.timeline.entries.first?.snapshot
    printLine("widget \(result) \(shown ?? -1)")
    if repeated.isEmpty { printLine("ended") } else { throw Broken() }
}
