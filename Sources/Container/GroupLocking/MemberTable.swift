import GroupBytes
package import GroupSystemCalls
import Synchronization

/// The shared map of live members: their processes, and what each holds, waits for and has in flight. Each member has
/// one slot. A slot is alive as long as its byte of the file is locked, and the kernel ends that lock with the process.
/// So the table needs no heartbeat and no clock, and a reused process number does no harm.
package final class MemberTable: Sendable {
    /// The map for reading; writes go through `own`.
    package let map: SharedMap
    package let file: FileDescriptor
    /// Nil in a process that may only read: other members do not see it, and it can write nothing in the member table.
    package let own: OwnSlot?
    /// This process.
    package let processIdentifier = GroupSystemCalls.processIdentifier()
    /// A random number, the first half of every operation's name.
    package let nonce: UInt64
    /// The slots that threads of this member are repairing now. The threads share the descriptor, so its locks do not
    /// exclude them from each other.
    package let repairs = Guarded(Set<Int>())
    /// The number of this member's requests that wait in each bucket, so that the last one clears the bit.
    let contending = Guarded([Int: Int]())
    /// The number of calls of this member that woke sleepers.
    let wakes = Atomic<UInt32>(0)
    /// The accesses of its slot that are taken, one bit each.
    let entriesInUse = Atomic<UInt32>(0)
    /// The other entries of its own slot that are taken.
    let entries = Guarded(MemberTableEntries())

    /// What only a member has: its own slot, and the map to write into.
    package struct OwnSlot: Sendable {
        package let map: WritableMap
        package let slot: Int
    }

    /// This member's slot; nil in a process that may only read.
    package var slot: Int? { own?.slot }

    struct MemberTableEntries: Sendable {
        var inFlight = Set<Int>()
        /// In-flight operations that are visible but whose record could not be appended: this member finishes them
        /// before it does anything else.
        var unfinished = Set<Int>()
        var operations: UInt64 = 0
    }

    /// The mapped file, before this member has a slot in it.
    package struct Open: ~Copyable {
        let map: WritableMap
        let file: FileDescriptor
    }

    /// Opens the member table, or creates it. Call it only while the container's opening byte is held.
    package static func open(in group: borrowing FileDescriptor, fileMode: UInt32) throws(Failure) -> Open {
        let name = Array("members".utf8)
        do throws(Errno) {
            if try group.statusIfPresent(of: name) == nil { try create(in: group, fileMode: fileMode) }
            let file = try FileDescriptor.open(name, in: group, .readingAndWriting)
            if try file.status().size >= UInt64(MemberTableLayout.size) {
                // A map keeps its open file alive, in forked children too, and with it the file's locks; so the map has
                // a descriptor of its own.
                let map = try WritableMap(
                    FileDescriptor.open(name, in: group, .readingAndWriting), size: MemberTableLayout.size)
                if isMemberTable(map) { return Open(map: map, file: file) }
            }
        } catch {
            throw .system(error)
        }
        throw .malformed
    }

    /// The reason why a member table cannot be opened.
    package enum Failure: Error, Equatable {
        case missing
        /// The file is not a member table, or was cut short.
        case malformed
        case system(Errno)
    }

    private static func isMemberTable(_ map: SharedMap) -> Bool {
        map.bytes(0, count: 8) == MemberTableLayout.magic && map.load32(MemberTableLayout.version) == 1
    }

    private static func create(in group: borrowing FileDescriptor, fileMode: UInt32) throws(Errno) {
        let name = Array("members.new".utf8)
        let file = try FileDescriptor.createAnew(name, in: group, .readingAndWriting)
        do {
            try file.setMode(fileMode)
            try file.allocate(MemberTableLayout.size)
            var header = ByteWriter()
            header.write(raw: MemberTableLayout.magic)
            header.write(UInt32(1))
            header.write(UInt32(MemberTableLayout.slotCount))
            try file.writeAll(header.bytes)
            // Synchronized before the file gets its name: the format file is on the disk already, and a container with
            // a member table of zeros would be damaged.
            try file.synchronize()
            try group.rename(name, to: Array("members".utf8), in: group, replacing: false)
        } catch {
            try? group.unlink(name)
            throw error
        }
    }

    package init(_ open: consuming Open, slot: Int, nonce: UInt64) throws(Errno) {
        map = open.map
        file = open.file
        own = OwnSlot(map: open.map, slot: slot)
        self.nonce = nonce
        try file.closeInForkedChild()
    }

    /// Sets a bit for a registered database.
    package func noteDatabase(_ bit: UInt64) { own?.map.setBits64(MemberTableLayout.databases, bit) }

    /// Opens the member table in a process that may only read.
    package init(onlyForReadingIn group: borrowing FileDescriptor) throws(Failure) {
        let name = Array("members".utf8)
        do throws(Errno) {
            file = try FileDescriptor.open(name, in: group, [.reading, .nonBlocking])
            let status = try file.status()
            if !status.isRegularFile || status.size < UInt64(MemberTableLayout.size) { throw Errno.invalid }
            map = try SharedMap(FileDescriptor.open(name, in: group, .reading), size: MemberTableLayout.size)
        } catch {
            if error == .noSuchEntry { throw .missing }
            throw error == .invalid ? .malformed : .system(error)
        }
        own = nil
        nonce = 0
        if !Self.isMemberTable(map) { throw .malformed }
    }

    /// Raises a number that only grows, even where a member with a lower value comes late.
    package func raise(_ offset: Int, to value: UInt64) {
        guard let own else { return }
        while true {
            let present = map.load64(offset)
            if present >= value || own.map.exchange64(offset, present, value) { return }
        }
    }

    deinit { if own != nil { file.forgetInForkedChild() } }

    /// Returns sixteen bytes that name one operation of one member.
    package func makeOperation() -> [UInt8] {
        let number = entries.withLock { entries in
            entries.operations += 1
            return entries.operations
        }
        var writer = ByteWriter(capacity: 16)
        writer.write(nonce)
        writer.write(number)
        return writer.bytes
    }

    /// Returns whether the member of a slot is alive, as the kernel reports it. System calls: fcntl(F_OFD_GETLK)
    package func isAlive(_ other: Int) -> Bool {
        if other == slot { return true }  // a process's own lock reads as free
        let byte = ByteRange(start: MemberTableLayout.lifeByte(other), length: 1)
        // Where the kernel returns an error, the member counts as alive.
        do { return try file.conflict(with: .exclusive, byte) != nil } catch { return true }
    }

    /// The members at which one look for dead ones looks, because the kernel walks all locks of the file for each.
    package static let looksAtOnce = 32

    /// Returns the slots of members that died, and that no member has repaired or taken since. Looks at `looksAtOnce`
    /// members, beginning where the last look of any member ended. System calls: fcntl(F_OFD_GETLK) for each of them
    package func slotsOfTheLost() -> [Int] {
        let occupied = map.bits(MemberTableLayout.members, count: MemberTableLayout.bitmapBytes).filter(map.isOccupied)
        return turn(of: occupied).filter { !isAlive($0) }
    }

    /// Returns those of the slots whose turn it is to be looked at, and notes where the next look begins.
    private func turn(of occupied: [Int]) -> [Int] {
        guard let own, occupied.count > Self.looksAtOnce else { return occupied }
        let start = Int(map.load32(MemberTableLayout.nextLook))
        let first = occupied.firstIndex { $0 >= start } ?? 0
        let turn = (occupied[first...] + occupied[..<first]).prefix(Self.looksAtOnce)
        own.map.store32(MemberTableLayout.nextLook, UInt32((turn.last ?? 0) + 1))
        return Array(turn)
    }

    /// Returns whether the member that has drawn `nonce` is alive, and still has the slot.
    package func isAlive(_ slot: Int, nonce: UInt64) -> Bool {
        map.load64(MemberTableLayout.slot(slot) + MemberTableLayout.nonce) == nonce && isAlive(slot)
    }

    /// A member as its slot describes it; anything in it may be wrong.
    package struct Member: Sendable {
        package var slot: Int
        package var mark: ProcessMark
        package var user: UInt32
        package var nonce: UInt64
        package var purpose: String
        package var started: Int64
    }

    /// Returns a word as nanoseconds since 1970. No member writes a negative number; from one, the difference to now
    /// would overflow.
    static func time(_ word: UInt64) -> Int64 { max(0, Int64(bitPattern: word)) }

    package func member(at index: Int) -> Member? {
        let base = MemberTableLayout.slot(index)
        let process = Int32(truncatingIfNeeded: map.load32(base + MemberTableLayout.process))
        if process == 0 { return nil }
        let text = map.bytes(base + MemberTableLayout.purpose, count: MemberTableLayout.purposeBytes).prefix { $0 != 0 }
        return Member(
            slot: index,
            mark: ProcessMark(
                identifier: process, namespace: map.load64(base + MemberTableLayout.pidNamespace),
                started: map.load64(base + MemberTableLayout.processStart)),
            user: map.load32(base + MemberTableLayout.user),
            nonce: map.load64(base + MemberTableLayout.nonce), purpose: printable(Array(text)),
            started: Self.time(map.load64(base + MemberTableLayout.started)))
    }

    /// Returns the members that are alive now.
    package func liveMembers() -> [Member] {
        (0..<MemberTableLayout.slotCount).compactMap { index in member(at: index).flatMap { isAlive(index) ? $0 : nil }
        }
    }

    package func setPurpose(_ purpose: String) {
        guard let own else { return }
        let base = MemberTableLayout.slot(own.slot) + MemberTableLayout.purpose
        let text = Array(purpose.utf8.prefix(MemberTableLayout.purposeBytes - 1))
        own.map.write(text + [UInt8](repeating: 0, count: MemberTableLayout.purposeBytes - text.count), at: base)
        noteStatus()
    }
}

/// A member's process, as far as this process can identify it.
package struct MemberProcess: Equatable, Sendable {
    /// The process number in this process's PID namespace, or in `pidNamespace`.
    package var identifier: Int32
    /// The inode of the PID namespace that the number belongs to, or 0 where that is not known. Nil where a signal to
    /// `identifier` reaches the member.
    package var pidNamespace: UInt64?
    /// The command that started the process; nil where the system does not show it.
    package var command: String?
    package var condition: ProcessView.Condition?

    package init(
        identifier: Int32, pidNamespace: UInt64? = nil, command: String? = nil, condition: ProcessView.Condition? = nil
    ) {
        self.identifier = identifier
        self.pidNamespace = pidNamespace
        self.command = command
        self.condition = condition
    }

    /// The process number if a signal to it reaches the member, else nil.
    package var signalled: Int32? { pidNamespace == nil ? identifier : nil }

    /// `process 7`, or `process 7 of PID namespace 4026532001`
    package var description: String { Self.text(identifier, pidNamespace) }

    package static func text(_ identifier: Int32, _ pidNamespace: UInt64?) -> String {
        switch pidNamespace {
        case nil: "process \(identifier)"
        case 0: "process \(identifier) of a PID namespace that is not known"
        case let namespace?: "process \(identifier) of PID namespace \(namespace)"
        }
    }
}

extension ProcessTable {
    package mutating func process(of member: MemberTable.Member) -> MemberProcess {
        let found = find(member.mark)
        return MemberProcess(
            identifier: found.identifier ?? member.mark.identifier,
            pidNamespace: found.identifier == nil ? member.mark.namespace : nil,
            command: found.view.map { printable($0.command) }, condition: found.view?.condition)
    }
}

extension MemberTable.Member {
    /// The member's process. To look up several members, use one `ProcessTable` for all of them.
    package var process: MemberProcess {
        var table = ProcessTable()
        return table.process(of: self)
    }
}
