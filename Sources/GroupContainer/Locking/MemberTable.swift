import GroupSystemCalls
import Synchronization

/// The shared map of live members: who they are, what they hold, wait for and have pending. One slot a member; a slot
/// is alive as long as its byte of the file is locked, which the kernel ends with the process: no heartbeat, no clock,
/// no reuse of process numbers.
final class MemberTable: Sendable {
    /// Cannot be written: that goes through the seat.
    let map: SharedMap
    let file: FileDescriptor
    /// Nil for who may only read: nobody sees it, and nothing of the member table can be written.
    let seat: Seat?
    /// Random; the first half of every operation's name.
    let nonce: UInt64
    /// Which of this member's threads repairs which slot: they share the descriptor, so its locks do not part them.
    let repairs = Guarded(Set<Int>())
    /// How many of this member's requests wait in each bucket, so that the last one clears the bit.
    let wanting = Guarded([Int: Int]())
    /// Which of its slot's accesses are taken, a bit each.
    let takenAccesses = Atomic<UInt32>(0)
    /// Which other entries of its own slot are taken.
    let entries = Guarded(MemberTableEntries())

    /// What a member has besides: its own slot, and the map to write into.
    struct Seat: Sendable {
        let map: WritableMap
        let slot: Int
    }

    /// This member's own; nil for who may only read.
    var slot: Int? { seat?.slot }

    struct MemberTableEntries: Sendable {
        var pending = Set<Int>()
        /// Visible, but their record could not be appended: this member finishes them before it does anything else.
        var unfinished = Set<Int>()
        var operations: UInt64 = 0
    }

    /// The mapped file, before this member has a slot in it.
    struct Open: ~Copyable {
        let map: WritableMap
        let file: FileDescriptor
    }

    /// Opens it, or makes it. Only while the container's opening byte is held.
    static func open(in group: borrowing FileDescriptor, fileMode: UInt32) throws(CoordinationError) -> Open {
        let name = Array("members".utf8)
        do throws(Errno) {
            if try group.statusIfPresent(of: name) == nil { try create(in: group, fileMode: fileMode) }
            let file = try FileDescriptor.open(name, in: group, .readingAndWriting)
            if try file.status().size >= UInt64(MemberTableLayout.size) {
                // A map keeps its open file alive, in forked children too, and with it the locks; so it has its own.
                let map = try WritableMap(
                    FileDescriptor.open(name, in: group, .readingAndWriting), size: MemberTableLayout.size)
                if isMemberTable(map) { return Open(map: map, file: file) }
            }
        } catch {
            throw CoordinationError(error, item: ".group/members", operation: "open")
        }
        throw isNone
    }

    private static var isNone: CoordinationError {
        .damaged(".group/members", operation: "open", "it is not a member table, or was cut short")
    }

    private static func isMemberTable(_ map: SharedMap) -> Bool {
        map.bytes(0, count: 8) == MemberTableLayout.magic && map.load32(MemberTableLayout.version) == 1
    }

    private static func create(in group: borrowing FileDescriptor, fileMode: UInt32) throws(Errno) {
        let name = Array("members.new".utf8)
        let file = try FileDescriptor.open(name, in: group, [.readingAndWriting, .creating, .truncating], mode: 0o600)
        do {
            try file.setMode(fileMode)
            try file.allocate(MemberTableLayout.size)
            var header = ByteWriter()
            header.write(raw: MemberTableLayout.magic)
            header.write(UInt32(1))
            header.write(UInt32(MemberTableLayout.slotCount))
            try file.writeAll(header.bytes)
            // Before its name: the format file is on the disk, and a container with a member table of zeros would be
            // damaged.
            try file.synchronize()
            try group.rename(name, to: Array("members".utf8), in: group, replacing: false)
        } catch {
            try? group.unlink(name)
            throw error
        }
    }

    init(_ open: consuming Open, slot: Int, nonce: UInt64) throws(Errno) {
        map = open.map
        file = open.file
        seat = Seat(map: open.map, slot: slot)
        self.nonce = nonce
        try file.closeInForkedChild()
    }

    /// For who may only read.
    init(onlyForReadingIn group: borrowing FileDescriptor) throws(CoordinationError) {
        let name = Array("members".utf8)
        do throws(Errno) {
            file = try FileDescriptor.open(name, in: group, [.reading, .nonBlocking])
            let status = try file.status()
            if !status.isRegularFile || status.size < UInt64(MemberTableLayout.size) { throw Errno.invalid }
            map = try SharedMap(FileDescriptor.open(name, in: group, .reading), size: MemberTableLayout.size)
        } catch {
            if error == .noSuchEntry { throw .damaged(".group/members", operation: "open", "it is missing") }
            throw error == .invalid ? Self.isNone : CoordinationError(error, item: ".group/members", operation: "open")
        }
        (seat, nonce) = (nil, 0)
        if !Self.isMemberTable(map) { throw Self.isNone }
    }

    /// A number that only grows, whichever member comes late.
    func raise(_ offset: Int, to value: UInt64) {
        guard let seat else { return }
        while true {
            let present = map.load64(offset)
            if present >= value || seat.map.exchange64(offset, present, value) { return }
        }
    }

    deinit { if seat != nil { file.forgetInForkedChild() } }

    /// Sixteen bytes that name one operation of one member.
    func makeOperation() -> [UInt8] {
        let number = entries.withLock { entries in
            entries.operations += 1
            return entries.operations
        }
        var writer = ByteWriter()
        writer.write(nonce)
        writer.write(number)
        return writer.bytes
    }

    /// Asks the kernel. System calls: fcntl(F_OFD_GETLK)
    func isAlive(_ other: Int) -> Bool {
        if other == slot { return true }  // one's own lock reads as free
        let byte = ByteRange(start: MemberTableLayout.lifeByte(other), length: 1)
        // Where the kernel will not say, nobody is called dead.
        do { return try file.conflict(with: .exclusive, byte) != nil } catch { return true }
    }

    /// A member, as far as its slot says; anything in it may be wrong.
    struct Member: Sendable {
        var slot: Int
        var mark: ProcessMark
        var user: UInt32
        var nonce: UInt64
        var purpose: String
        var started: Int64
    }

    /// Nanoseconds since 1970. No member writes a negative number; from one, the difference to now would overflow.
    static func time(_ word: UInt64) -> Int64 { max(0, Int64(bitPattern: word)) }

    func member(at index: Int) -> Member? {
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

    /// Those alive now.
    func liveMembers() -> [Member] {
        (0..<MemberTableLayout.slotCount).compactMap { index in member(at: index).flatMap { isAlive(index) ? $0 : nil }
        }
    }

    func setPurpose(_ purpose: String) {
        guard let seat else { return }
        let base = MemberTableLayout.slot(seat.slot) + MemberTableLayout.purpose
        let text = Array(purpose.utf8.prefix(MemberTableLayout.purposeBytes - 1))
        seat.map.write(text + [UInt8](repeating: 0, count: MemberTableLayout.purposeBytes - text.count), at: base)
    }
}

/// A member's process, as far as this process can tell which it is.
struct MemberProcess: Equatable, Sendable {
    /// Its number in this process's PID namespace, or in `pidNamespace`.
    var identifier: Int32
    /// Where the number is another namespace's: that one's inode, or 0 where nobody knows which. Nil where a signal to
    /// `identifier` reaches the member.
    var pidNamespace: UInt64?
    /// How it was called; nil where the system will not say.
    var command: String?
    var condition: CoordinationError.Holder.Condition?

    /// Its number where a signal to it reaches the member.
    var signalled: Int32? { pidNamespace == nil ? identifier : nil }

    /// `process 7`, or `process 7 of PID namespace 4026532001`
    var description: String { Self.text(identifier, pidNamespace) }

    static func text(_ identifier: Int32, _ pidNamespace: UInt64?) -> String {
        switch pidNamespace {
        case nil: "process \(identifier)"
        case 0: "process \(identifier) of a PID namespace that is not known"
        case let namespace?: "process \(identifier) of PID namespace \(namespace)"
        }
    }
}

extension ProcessTable {
    mutating func process(of member: MemberTable.Member) -> MemberProcess {
        let found = find(member.mark)
        let condition = found.view.map { view -> CoordinationError.Holder.Condition in
            switch view.condition {
            case .running: .running
            case .stopped: .stopped
            case .zombie: .zombie
            }
        }
        return MemberProcess(
            identifier: found.identifier ?? member.mark.identifier,
            pidNamespace: found.identifier == nil ? member.mark.namespace : nil,
            command: found.view.map { printable($0.command) }, condition: condition)
    }
}

extension MemberTable.Member {
    /// Where several members are asked for, one `ProcessTable` answers for all of them.
    var process: MemberProcess {
        var table = ProcessTable()
        return table.process(of: self)
    }
}
