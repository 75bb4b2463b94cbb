import Foundation
import GroupContainer
import TestSupport
import Widgets

/// A provider that shows the first line of an item, and fails without the item.
struct FirstLine: WidgetProvider {
    static let kind = "first-line"
    var interests: [WidgetInterest] { [.path("notes/*")] }

    func snapshot(in context: WidgetContext) async throws -> String {
        let content = try await context.coordinator.readBytes("notes/a")
        return String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

/// A container of its own, removed at the end.
final class Place {
    let path = "\(TestFiles.directory)/widgets-tests-\(UUID().uuidString)"
    let container: Container
    var blocking: BlockingCoordinator { container.coordinator(purpose: "tests").blocking }

    init() throws { container = try Container(path: path, creating: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func refresh(_ deliver: (String) throws -> Void = { _ in }) async throws -> UpdateResult {
        try await WidgetRefresh(FirstLine(), in: container) { print("provider: \($0)") }.performUpdate(deliver)
    }

    func write(_ text: String, to path: ItemPath) throws {
        _ = try blocking.write(bytes: Array(text.utf8), to: path, durability: .relaxed)
    }
}

extension Place {
    func center() throws -> WidgetCenter { try WidgetCenter(container) }
}
