import GroupContainer
import GroupContainerTesting
import XCTest

/// XCTest can use the testing library in the same way.
final class ClassicTests: XCTestCase {
    private var temporary: TemporaryContainer?

    override func setUpWithError() throws { temporary = try TemporaryContainer() }

    override func tearDown() { temporary = nil }

    func testWritesAndReads() throws {
        let container = try XCTUnwrap(temporary).container
        let coordinator = container.coordinator(purpose: "a test").blocking
        _ = try coordinator.write(json: "x", to: "a.json")
        XCTAssertEqual(try coordinator.read("a.json", as: String.self), "x")
    }
}
