// Imports nothing: no file, clock or process.

/// The layout of `.group/presenters`: a page of facts, two counters for each member, and the entries of presenters,
/// each with its questions. The file's size never changes, and nothing in it moves.
enum PresenterTableLayout {
    static let name = Array("presenters".utf8)
    static let magic = Array("GROUPASK".utf8)
    static let version = 8
    /// A counter (8 bytes): the numbers of presenters, questions and rounds are drawn from it.
    static let numbers = 16

    /// Two counters (4 bytes each) for each slot of the member table: a process sleeps on the first one until its
    /// presenters are asked, and on the second one until its requests are answered.
    static let counters = 4_096

    static let entryCount = 256
    static let entries = 12_288
    static let entryBytes = 16_384
    static let size = entries + entryCount * entryBytes

    static func asked(_ slot: Int) -> Int { counters + slot * 8 }
    static func answered(_ slot: Int) -> Int { counters + slot * 8 + 4 }
    static func entry(_ index: Int) -> Int { entries + index * entryBytes }

    // Within an entry.
    /// The presenter's number, and which of the two paths is the present one (the lowest bit). 0: the entry is free.
    static let presenter = 0
    static let slot = 8
    static let answers = 12
    static let nonce = 16
    /// Nanoseconds since 1970.
    static let since = 24
    /// Not 0: a request went on without the presenter's answer, and the presenter has done nothing since.
    static let passedOver = 32
    static let questions = 256
    /// Two paths, of which one is written while the other one is read.
    static let paths = 8_192
    static let pathBytes = 4_096

    static let questionCount = 16
    static let questionBytes = 480

    static func question(_ entry: Int, _ index: Int) -> Int { self.entry(entry) + questions + index * questionBytes }

    // Within a question.
    /// From the highest bits: the number of the question (24 bits), 16 bits of the asking member's nonce, its slot (16
    /// bits) and the state (8 bits).
    static let questionWord = 0
    static let askerNonce = 8
    /// The number of the presenter that is asked.
    static let askedPresenter = 16
    static let round = 24
    static let ticket = 32
    /// The owner of the request in the graph of waits: its number, and the slot of its member.
    static let owner = 40
    static let ownerSlot = 48
    static let wanted = 52
    /// The request's deadline, in nanoseconds of the monotonic clock; the largest number: it has none.
    static let deadline = 56
    /// Nanoseconds since 1970.
    static let askedAt = 64
    /// The sequence number of the last change that the request made; 0: none.
    static let lastChange = 72
    /// That of the first one.
    static let firstChange = 464
    /// The number of the presenter for which the request is made, which is not asked by its answers either; 0: none.
    static let madeFor = 472
    static let askerPurpose = 80
    static let askerPurposeBytes = 48
    static let askedPath = 128
    static let askedPathBytes = 200
    /// Why the answer failed.
    static let failure = 328
    static let failureBytes = 136
}
