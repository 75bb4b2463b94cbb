import GroupBytes
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// An item that is presented while it is edited, with the version that the edited text is based on.
struct EditedItem {
    /// The largest item, in bytes: its content is kept in memory.
    static let limit = 256 << 20
    private static let attempts = 8

    private let container: Container
    private let presentation: Presentation
    private let coordinator: BlockingCoordinator
    private let timeout: Duration
    /// Set with the first change that others make.
    private let noticed: OneShotEvent<Void>
    /// The generation that was read; nil where there was no item.
    private var base: Generation?

    /// The path of the item, as far as that is known here.
    private(set) var path: ItemPath

    /// The content at `base`; empty where there was no item.
    private(set) var content: [UInt8]

    /// Another process has changed the item since it was read.
    struct Conflict: Error {
        /// The last change of the item; nil where the journal has none.
        var change: Change?
    }

    /// Presents the item, so that other processes see that it is edited, and follows its moves; then reads it. `notice`
    /// gets each change that others make of it.
    init(
        _ path: ItemPath, in container: Container, purpose: String, timeout: Duration,
        notice: @escaping @Sendable (String) -> Void
    ) throws {
        let noticed = OneShotEvent<Void>()
        let calls = PresenterCalls(
            answers: [], answer: { _, _, _ in },
            didChange: {
                notice("\($0.kind.name) \($0.path) by \(TerminalName.writer(of: $0))")
                noticed.set(())
            },
            didMove: { path, _ in
                notice("moved to \(path)")
                noticed.set(())
            })
        self.noticed = noticed
        presentation = try container.present(calls, at: path)
        coordinator = presentation.coordinator(purpose: purpose).blocking
        self.container = container
        self.timeout = timeout
        (self.path, content) = (path, [])
        try read()
    }

    /// The path of the container, for errors.
    var containerPath: String { container.path.description }

    /// Reads the item: its present version is the base of the next `save`.
    mutating func read() throws {
        path = presentation.path
        let path = path
        do {
            let version = try coordinator.readVersion(path, timeout: timeout) { reader in
                guard let content = try reader.readAll(atMost: Self.limit) else {
                    throw CoordinationError(
                        .limitReached, operation: "edit", item: path.description,
                        reason: "the item has more than \(Self.limit) bytes")
                }
                return content
            }
            (content, base) = (version.value, version.generation)
        } catch let error as CoordinationError where error.code == .notFound {
            (content, base) = ([], nil)
        }
    }

    /// Waits, at most five seconds, for the notice of a change that another process made before this call: a presenter
    /// learns of it a moment after the change.
    func awaitNotice() {
        let present = try? coordinator.generation(of: path, timeout: timeout)
        if present != base { _ = noticed.block(until: Deadline(after: .seconds(5))) }
    }

    /// Writes the text if no other process has changed the content since `read`, to where the item is now. Moves, and
    /// changes of metadata only, are no conflict. Errors: `Conflict`, and those of a write.
    mutating func save(_ text: [UInt8], _ durability: Durability) throws -> WriteResult {
        var base = base
        for _ in 0..<Self.attempts {
            do {
                return try coordinator.write(
                    bytes: text, to: path, durability: durability, if: base.map { .generation($0) } ?? .absent,
                    timeout: timeout)
            } catch let error as CoordinationError where error.code == .conflict && error.remedy?.code == .readAgain {
                guard let expected = base else { throw Conflict(change: try changes().last) }
                let present = try coordinator.generation(of: path, timeout: timeout)
                let later = try changes().filter { $0.generation > expected }
                let keepsContent = later.allSatisfy { [.moved, .touched].contains($0.kind.word) }
                guard keepsContent, let last = later.last else { throw Conflict(change: later.last) }
                if let present { base = present } else if let moved = last.destination(of: path) { path = moved }
            }
        }
        throw Conflict(change: nil)
    }

    private func changes() throws -> [Change] { try container.history(of: path).changes.map(\.change) }
}
