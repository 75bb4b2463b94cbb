/// How an item is wanted.
enum LeaseMode: Int, Comparable, Sendable {
    case reading = 1
    case writing = 2

    static func < (left: LeaseMode, right: LeaseMode) -> Bool { left.rawValue < right.rawValue }
}

/// The blocks of one request in the order in which they are taken: ascending, each once, in its strongest mode. As
/// every member keeps this order, two requests cannot wait for each other.
struct LeasePlan: Equatable, Sendable {
    struct Part: Equatable, Sendable {
        var block: LeaseBlock
        var mode: LeaseMode
    }

    let parts: [Part]

    init(_ wanted: [(block: LeaseBlock, mode: LeaseMode)]) {
        var strongest: [LeaseBlock: LeaseMode] = [:]
        for (block, mode) in wanted { strongest[block] = max(strongest[block] ?? .reading, mode) }
        parts = strongest.map { Part(block: $0.key, mode: $0.value) }.sorted { $0.block < $1.block }
    }

    /// One call to the kernel, in a wait.
    enum Step: Equatable, Sendable {
        case exclusive(start: Int64, length: Int64)
        case shared(start: Int64, length: Int64)
        case release(start: Int64, length: Int64)
    }

    /// What to do, from a part on, when it could not be had at once: through the turnstile, then to the lock. A reader
    /// gives the turnstile back, a writer keeps it with the rest of the block.
    func steps(from part: Int) -> [Step] {
        parts[part...].flatMap { part -> [Step] in
            switch part.mode {
            case .writing:
                [
                    .exclusive(start: part.block.turnstile, length: 1),
                    .exclusive(start: part.block.start, length: LeaseBlock.length),
                ]
            case .reading:
                [
                    .exclusive(start: part.block.turnstile, length: 1),
                    .shared(start: part.block.lock, length: 1),
                    .release(start: part.block.turnstile, length: 1),
                ]
            }
        }
    }
}
