import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The mapped file `.group/presenters`: who presents which item, and the questions to them. Entries are written under a
/// byte lock, and read without one; `docs/format.md` has the layout.
final class PresenterTable: Sendable {
    let map: WritableMap

    private typealias Layout = PresenterTableLayout

    private init(_ map: WritableMap) { self.map = map }

    /// Opens the table; nil where there is none, and `creating` is false. Call it with `creating` only under the lock of
    /// entries. Errors: `damaged`, `noSpace`
    static func open(in directory: ContainerDirectories, creating: Bool) throws(CoordinationError) -> PresenterTable? {
        try translating("open", item: ".group/presenters") { () throws(Errno) -> PresenterTable? in
            if try directory.group.statusIfPresent(of: Layout.name) == nil {
                if !creating { return nil }
                try create(in: directory.group, fileMode: directory.fileMode)
            }
            return try open(in: directory.group)
        }
    }

    private static func open(in group: borrowing FileDescriptor) throws(Errno) -> PresenterTable {
        let file = try FileDescriptor.open(Layout.name, in: group, [.readingAndWriting, .nonBlocking])
        let status = try file.status()
        if !status.isRegularFile || status.size < UInt64(Layout.size) { throw .invalid }
        let map = try WritableMap(file, size: Layout.size)
        if map.bytes(0, count: 8) != Layout.magic || map.load32(Layout.version) != 1 { throw .invalid }
        return PresenterTable(map)
    }

    private static func create(in group: borrowing FileDescriptor, fileMode: UInt32) throws(Errno) {
        let name = Layout.name + Array(".new".utf8)
        let file = try FileDescriptor.open(name, in: group, [.readingAndWriting, .creating, .truncating], mode: 0o600)
        do {
            try file.setMode(fileMode)
            // A mapped page that the disk has no room for would end the process.
            try file.allocate(Layout.size)
            var header = ByteWriter()
            header.write(raw: Layout.magic)
            header.write(UInt32(1))
            try file.writeAll(header.bytes)
            try group.rename(name, to: Layout.name, in: group, replacing: true)
        } catch {
            try? group.unlink(name)
            throw error
        }
    }

    /// Draws a number that no presenter, question or round has.
    func drawNumber() -> UInt64 { map.add64(Layout.numbers, 1) &+ 1 }

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
            if word == 0 { return nil }
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

    /// Writes a new entry, under the lock of entries. The questions of an earlier presenter stay: a process may be about
    /// to write into them; they have that presenter's number.
    func write(_ entry: Entry) {
        let base = Layout.entry(entry.index)
        map.store64(base + Layout.presenter, 0)
        map.store32(base + Layout.slot, UInt32(entry.slot))
        map.store32(base + Layout.answers, entry.answers.rawValue)
        map.store64(base + Layout.nonce, entry.nonce)
        map.store64(base + Layout.since, UInt64(bitPattern: entry.since))
        map.write(entry.item.bytes, at: base + Layout.paths, terminatedWithin: Layout.pathBytes)
        map.store64(base + Layout.presenter, entry.number << 1)
    }

    /// Replaces the path of an entry, under the lock of entries.
    func move(_ entry: Entry, to item: ItemLocation) {
        let base = Layout.entry(entry.index)
        let word = map.load64(base + Layout.presenter)
        if word >> 1 != entry.number { return }
        let other = word ^ 1
        map.write(
            item.bytes, at: base + Layout.paths + Int(other & 1) * Layout.pathBytes,
            terminatedWithin: Layout.pathBytes)
        map.store64(base + Layout.presenter, other)
    }

    /// Frees an entry, under the lock of entries.
    func clear(_ index: Int) { map.store64(Layout.entry(index) + Layout.presenter, 0) }

    // MARK: Sleeping and waking

    /// Wakes the process whose presenters were asked.
    func wakePresenters(of slot: Int) { ring(Layout.asked(slot)) }

    /// Wakes the process whose requests were answered.
    func wakeAskers(of slot: Int) { ring(Layout.answered(slot)) }

    /// The counter that `wakePresenters` increases, for a sleep.
    func asked(of slot: Int) -> WatchedWord { WatchedWord(Layout.asked(slot), of: map) }

    /// The value of the counter that `wakeAskers` increases.
    func answerCount(of slot: Int) -> UInt32 { map.load32(Layout.answered(slot)) }

    /// Sleeps until `wakeAskers` is called, if it was not called since the counter was read; at most some nanoseconds.
    /// System calls: futex_waitv(2)
    func awaitAnswer(_ slot: Int, after count: UInt32, since seen: Interruption, atMost limit: Int64) {
        map.wait(whileWord: Layout.answered(slot), is: count, since: seen, nanoseconds: max(0, limit))
    }

    private func ring(_ counter: Int) {
        _ = map.add32(counter, 1)
        map.wakeAll(at: counter)
    }
}
