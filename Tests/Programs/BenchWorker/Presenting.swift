import Glibc
import GroupContainer
import GroupSystemCalls

/// Presents an item, and answers each question at once.
func present(_ directory: String) throws {
    let container = try Container(path: directory)
    let calls = PresenterCalls(answers: .all, answer: { _, _, _ in })
    let presentation = try container.present(calls, at: "item")
    print("ready")
    fflush(nil)
    withExtendedLifetime(presentation) { while true { pause(nanoseconds: 3_600_000_000_000) } }
}
