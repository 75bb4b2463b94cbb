import Glibc
import GroupContainer
import GroupSystemCalls

/// Presents an item: prints each call of the presenter, and answers each question as the next line of input says.
func present(_ path: String, _ item: ItemPath) throws {
    let container = try Container(path: path)
    // Its own coordinator is known once it presents.
    let own = Guarded<Presentation?>(nil)
    let coordinator: @Sendable () -> BlockingCoordinator = {
        (own.withLock { $0 }?.coordinator(purpose: "presenter") ?? container.coordinator(purpose: "")).blocking
    }
    let calls = PresenterCalls(
        answers: .all,
        answer: { wanted, accessor, _ in
            printLine("asked \(words(of: wanted)) by \(accessor.processIdentifier)")
            guard let order = nextLine() else { exit(0) }
            let parts = order.split(separator: " ", maxSplits: 2).map(String.init)
            switch (parts.first, parts.count) {
            case ("save", 3):
                do {
                    let result = try coordinator().write(bytes: Array(parts[2].utf8), to: ItemPath(parts[1]))
                    printLine(result.generation == nil ? "unchanged" : "saved")
                } catch let error as CoordinationError {
                    printLine("not saved: \(error.code.rawValue)")
                    throw error
                }
            case ("read", 2):
                let content = try coordinator().readBytes(ItemPath(parts[1]))
                printLine("read \(String(decoding: content, as: UTF8.self))")
            case ("fail", _): throw Refused()
            default: printLine("answered")
            }
        },
        reacquire: { change in printLine("reacquired after \(change.map { "\($0.kind.name) \($0.path)" } ?? "nothing")")
        },
        didChange: { printLine("\($0.kind.name) \($0.path)") },
        didMove: { path, _ in printLine("moved to \(path)") },
        didEnd: { printLine("ended \($0.code.rawValue)") })
    let presentation = try container.present(calls, at: item)
    own.withLock { $0 = presentation }
    printLine("presenting")
    withExtendedLifetime(presentation) { while true { pause(nanoseconds: 3_600_000_000_000) } }
}

/// Presents an item, and forks a child that ends the presentation, tries to begin one, and stays until the input ends.
/// The parent answers each question.
func presentAndFork(_ path: String, _ item: ItemPath) throws {
    let container = try Container(path: path)
    let calls = PresenterCalls(
        answers: .all, answer: { wanted, _, _ in printLine("asked \(words(of: wanted))") }, reacquire: { _ in })
    let presentation = try container.present(calls, at: item)
    if forkWithoutExec() == 0 {
        presentation.end()
        do {
            _ = try container.present(calls, at: item)
            printLine("child presents")
        } catch {
            printLine("child \(error.code.rawValue)")
        }
        while nextLine() != nil {}
        _exit(0)
    }
    withExtendedLifetime(presentation) { while true { pause(nanoseconds: 3_600_000_000_000) } }
}

private struct Refused: Error, CustomStringConvertible {
    let description = "the test refuses"
}

private func words(of wanted: PresenterQuestions) -> String {
    let all: [(PresenterQuestions, String)] = [
        (.relinquishToReader, "reader"), (.relinquishToWriter, "writer"), (.saveChanges, "save"),
        (.accommodateDeletion, "deletion"),
    ]
    return all.filter { wanted.contains($0.0) }.map(\.1).joined(separator: "+")
}

/// Presents an item until another process has asked once, and the presenter has reacquired.
func presentOnce(_ path: String, _ item: ItemPath) throws {
    let container = try Container(path: path)
    let end = OneShotEvent<CoordinationError?>()
    let calls = PresenterCalls(
        answers: .all,
        answer: { wanted, _, _ in printLine("asked \(words(of: wanted))") },
        reacquire: { change in
            printLine("reacquired after \(change.map { "\($0.kind.name) \($0.path)" } ?? "nothing")")
            end.set(nil)
        },
        didEnd: { end.set($0) })
    // A request that is made as soon as the presenter is in the table comes after the presentation, too.
    let presentation = try container.coordinator(purpose: "presenter").blocking.coordinate(.reading(item)) { _ in
        try container.present(calls, at: item)
    }
    let ending = end.block(until: Deadline(after: .seconds(60)))
    presentation.end()
    guard case .happened(let error) = ending else { throw NotAsked() }
    if let error { throw error }
}

/// Writes an item once another process presents it.
func writePresented(_ path: String, _ item: ItemPath, _ text: String) throws {
    let container = try Container(path: path)
    var looks = 0
    while try !container.status().members.contains(where: { !$0.presentedItems.isEmpty }) {
        looks += 1
        if looks > 6_000 { throw NotPresented() }
        pause(nanoseconds: 10_000_000)
    }
    _ = try container.coordinator(purpose: "writer").blocking.write(bytes: Array(text.utf8), to: item)
}

private struct NotAsked: Error {}

private struct NotPresented: Error {}
