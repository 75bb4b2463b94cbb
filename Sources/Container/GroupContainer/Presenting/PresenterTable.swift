import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The mapped file `.group/presenters`: which process presents which item, and the questions to it. Entries are written
/// under a byte lock, and read and freed without one; `docs/reference/format.md` has the layout.
final class PresenterTable: Sendable {
    /// The map for reading; writes go through `own`.
    let map: SharedMap
    /// Nil in a process that may only read.
    let own: WritableMap?
    /// The table whose watchers of the status are woken when an entry or a question has changed.
    private let memberTable: MemberTable?

    private typealias Layout = PresenterTableLayout

    /// The file, for errors and findings.
    static let label = ".group/presenters"
    /// The version of the layout.
    private static let version: UInt32 = 1

    private init(
        _ file: borrowing FileDescriptor, isOnlyForReading: Bool, of memberTable: MemberTable?
    ) throws(Errno) {
        self.memberTable = memberTable
        if isOnlyForReading {
            (own, map) = (nil, try SharedMap(file, size: Layout.size))
        } else {
            let writable = try WritableMap(file, size: Layout.size)
            (own, map) = (writable, writable)
        }
    }

    /// Opens the table; nil where there is none. Errors: `damaged`, `newerFormat`. System calls: openat2, statx, mmap
    static func open(
        in directory: ContainerDirectories, isOnlyForReading: Bool, of memberTable: MemberTable? = nil
    ) throws(CoordinationError) -> PresenterTable? {
        try ifPresent { () throws(CoordinationError) -> PresenterTable in
            let access: FileDescriptor.OpenMode = isOnlyForReading ? .reading : .readingAndWriting
            let file = try translating("open", item: label) { () throws(Errno) in
                try FileDescriptor.open(Layout.name, in: directory.group, [access, .nonBlocking])
            }
            let status = try translating("open", item: label) { () throws(Errno) in try file.status() }
            if !status.isRegularFile { throw damaged("the file is not a regular file") }
            if status.size < UInt64(Layout.size) {
                throw damaged("the file was cut short: \(status.size) of \(Layout.size) bytes are left")
            }
            let table = try translating("open", item: label) { () throws(Errno) in
                try PresenterTable(file, isOnlyForReading: isOnlyForReading, of: memberTable)
            }
            try table.checkHeader()
            return table
        }
    }

    private func checkHeader() throws(CoordinationError) {
        let version = map.load32(Layout.version)
        if map.bytes(0, count: 8) != Layout.magic || version == 0 {
            throw Self.damaged("the file is not a table of presenters")
        }
        if version > Self.version {
            throw CoordinationError(
                .newerFormat, operation: "open", item: Self.label,
                reason: "the table of presenters has format \(version), and this version knows \(Self.version)",
                remedy: .update)
        }
    }

    /// Checks that no part of the file was read as zeros, or written into memory that no other process has. Errors:
    /// `damaged`
    func checkIsWhole() throws(CoordinationError) {
        if map.isDamaged {
            throw Self.damaged("the file was truncated, or its disk is full, while the file was in use")
        }
    }

    private static func damaged(_ reason: String) -> CoordinationError {
        .damaged(operation: "open", item: label, reason: reason)
    }

    /// The error where the file is missing although the member table shows presenters, which have their entries in it.
    static let removed = damaged("the file was removed while items were presented")

    /// Creates the table. Call it only under the lock of entries. Errors: `noSpace`. System calls: openat2, fallocate,
    /// renameat2
    static func create(in directory: ContainerDirectories) throws(CoordinationError) {
        try translating("open", item: label) { () throws(Errno) in
            let name = Layout.name + Array(".new".utf8)
            let file = try FileDescriptor.createAnew(name, in: directory.group, .readingAndWriting)
            do throws(Errno) {
                try file.setMode(directory.fileMode)
                // A mapped page that the disk has no room for would end the process.
                try file.allocate(Layout.size)
                var header = ByteWriter()
                header.write(raw: Layout.magic)
                header.write(version)
                try file.writeAll(header.bytes)
                try directory.group.rename(name, to: Layout.name, in: directory.group, replacing: true)
            } catch {
                try? directory.group.unlink(name)
                throw error
            }
        }
    }

    /// Draws a number that no presenter, question or round has.
    func drawNumber() -> UInt64 {
        // An entry has room for 63 bits of it, and 0 is no number.
        max(1, ((own?.add64(Layout.numbers, 1) ?? 0) &+ 1) & .max >> 1)
    }

    // MARK: Entries

    /// A presenter as its entry describes it; anything in it may be wrong.
    struct Entry: Equatable, Sendable {
        var index: Int
        var number: UInt64
        var slot: Int
        var nonce: UInt64
        var answers: PresenterQuestions
        var item: ItemLocation
        var since: Int64
    }

    /// Returns the presenter of an entry; nil where there is none, or while it changes.
    func entry(_ index: Int) -> Entry? {
        let base = Layout.entry(index)
        // A moved item's path is written into the buffer that is not read, and then the word is changed.
        for _ in 0..<16 {
            let word = map.load64(base + Layout.presenter)
            if word >> 1 == 0 { return nil }
            let entry = read(index, word)
            SharedMap.fence()
            if map.load64(base + Layout.presenter) == word { return entry }
        }
        return nil
    }

    /// Returns all presenters, also those whose processes are dead.
    func entries() -> [Entry] { (0..<Layout.entryCount).compactMap(entry) }

    private func read(_ index: Int, _ word: UInt64) -> Entry? {
        let base = Layout.entry(index)
        let path = map.bytes(base + Layout.paths + Int(word & 1) * Layout.pathBytes, count: Layout.pathBytes)
        let slot = Int(map.load32(base + Layout.slot))
        guard slot < MemberTableLayout.slotCount, let item = try? ItemLocation(Array(path.prefix { $0 != 0 })) else {
            return nil
        }
        return Entry(
            index: index, number: word >> 1, slot: slot, nonce: map.load64(base + Layout.nonce),
            answers: PresenterQuestions(rawValue: map.load32(base + Layout.answers)), item: item,
            since: max(0, Int64(bitPattern: map.load64(base + Layout.since))))
    }

    /// Writes a new entry, under the lock of entries. The questions of an earlier presenter stay: a process may be
    /// about to write into them; they have that presenter's number.
    func write(_ entry: Entry) {
        guard let own else { return }
        let base = Layout.entry(entry.index)
        own.store64(base + Layout.presenter, 0)
        own.store32(base + Layout.slot, UInt32(entry.slot))
        own.store32(base + Layout.answers, entry.answers.rawValue)
        own.store32(base + Layout.passedOver, 0)
        own.store64(base + Layout.nonce, entry.nonce)
        own.store64(base + Layout.since, UInt64(bitPattern: entry.since))
        own.write(entry.item.bytes, at: base + Layout.paths, terminatedWithin: Layout.pathBytes)
        own.store64(base + Layout.presenter, entry.number << 1)
        noteStatus()
    }

    /// Replaces the path of an entry, under the lock of entries. Does nothing if the presenter has ended.
    func move(_ entry: Entry, to item: ItemLocation) {
        let offset = Layout.entry(entry.index) + Layout.presenter
        let word = map.load64(offset)
        guard let own, word >> 1 == entry.number else { return }
        let other = word ^ 1
        own.write(
            item.bytes, at: Layout.entry(entry.index) + Layout.paths + Int(other & 1) * Layout.pathBytes,
            terminatedWithin: Layout.pathBytes)
        if own.exchange64(offset, word, other) { noteStatus() }
    }

    /// Frees the entry of a presenter, without the lock of entries: only the presenter's number is exchanged. Returns
    /// false if the entry is no longer that presenter's.
    func free(_ index: Int, of presenter: UInt64) -> Bool {
        guard let own else { return false }
        let offset = Layout.entry(index) + Layout.presenter
        while true {
            let word = map.load64(offset)
            if word == 0 || word >> 1 != presenter { return false }
            // Fails where the item is moved at this moment.
            if own.exchange64(offset, word, 0) {
                noteStatus()
                return true
            }
        }
    }

    // MARK: Presenters that do nothing

    /// Returns whether a request went on without the presenter's answer, and the presenter has done nothing since: it
    /// is stopped, or hangs, and asking it again would cost each request as much time.
    func isPassedOver(_ index: Int) -> Bool { map.load32(Layout.entry(index) + Layout.passedOver) != 0 }

    /// Notes that a request is about to go on without a presenter, or that the presenter has done something. A request
    /// notes this before it changes the question's word: the presenter handles the question after that, and notes that
    /// it has.
    func setPassedOver(_ isPassedOver: Bool, _ index: Int, of presenter: UInt64) {
        let base = Layout.entry(index)
        guard let own, self.isPassedOver(index) != isPassedOver, map.load64(base + Layout.presenter) >> 1 == presenter
        else { return }
        own.store32(base + Layout.passedOver, isPassedOver ? 1 : 0)
    }

    // MARK: Sleeping and waking

    /// Wakes the process whose presenters were asked.
    func wakePresenters(of slot: Int) { ring(Layout.asked(slot)) }

    /// Wakes the process whose requests were answered.
    func wakeAskers(of slot: Int) { ring(Layout.answered(slot)) }

    /// The counter that `wakePresenters` increases, for a sleep; nil in a process that may only read.
    func asked(of slot: Int) -> WatchedWord? { own.map { WatchedWord(Layout.asked(slot), of: $0) } }

    /// The value of the counter that `wakeAskers` increases.
    func answerCount(of slot: Int) -> UInt32 { map.load32(Layout.answered(slot)) }

    /// Sleeps until `wakeAskers` is called, if it was not called since the counter was read; at most some nanoseconds.
    /// System calls: futex_waitv(2)
    func awaitAnswer(_ slot: Int, after count: UInt32, since seen: Interruption, atMost limit: Int64) {
        guard let own else { return }
        let answered = WatchedWord(Layout.answered(slot), of: own, seen: count)
        WritableMap.wait(while: answered, since: seen, nanoseconds: max(0, limit))
    }

    /// Wakes those that watch the container's status.
    func noteStatus() { memberTable?.noteStatus() }

    private func ring(_ counter: Int) {
        guard let own else { return }
        _ = own.add32(counter, 1)
        own.wakeAll(at: counter)
    }
}
