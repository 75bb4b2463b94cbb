import GroupContainer
import GroupSystemCalls
import Widgets

/// A widget that shows the content of an item. With one of these contents, its refresh does not end by itself:
///
///     lock          holds the lock on the item, in a closure that awaits and is cancelled with the refresh
///     transaction   is in a transaction that has written `Library/half`, in a closure that blocks its thread
///     download      holds nothing
struct LongRefresh: WidgetProvider {
    static let kind = "refreshes"
    let kind: String

    private var path: ItemPath { ItemPath("Library/\(kind)") }
    var interests: [WidgetInterest] { [.path("Library/\(kind)")] }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let text = try await context.coordinator.readText(path)
        switch text {
        case "lock":
            try await context.coordinator.coordinate(.writing(path)) { _ in
                complain("is busy with \(text)")
                try await awaitCancellation()
            }
        case "transaction":
            try await context.coordinator.transaction(.writing(path), .writing("Library/half")) { access in
                try access.write(bytes: [], to: "Library/half")
                complain("is busy with \(text)")
                pause(nanoseconds: 3_600_000_000_000)
            }
        case "download":
            complain("is busy with \(text)")
            try await awaitCancellation()
        default: break
        }
        return WidgetView(lines: [.init(text)])
    }

    /// Throws once the task is cancelled.
    private func awaitCancellation() async throws {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        try Task.checkCancellation()
    }
}
