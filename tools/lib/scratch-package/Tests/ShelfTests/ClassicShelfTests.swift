import GroupContainerTesting
import ShelfShared
import XCTest

final class ClassicShelfTests: XCTestCase {
    private var temporary: TemporaryContainer!

    override func setUpWithError() throws { temporary = try TemporaryContainer(group: Shelf.group) }

    override func tearDown() { temporary = nil }

    func testTheWidgetTellsWhyItFailed() async throws {
        let outcome = try await LatestThing().refreshed(in: temporary.container)
        XCTAssertEqual(outcome.result, .failed)
        XCTAssertNotNil(outcome.failure, "there is no things.json yet")
    }
}
