import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The facts about how external changes are noticed.
struct WatchingFacts: Sendable {
    struct Leader: Equatable, Sendable {
        var process: MemberProcess
        var purpose: String
        /// Whether the leader replied to a probe; nil where it could not be probed.
        var replies: Bool?
    }

    /// A limit of the kernel for this user, and how much of it is used by the processes that can be examined.
    struct Limit: Equatable, Sendable {
        var limit: InotifyLimit
        var used: Int

        var isReached: Bool { used >= limit.number }
    }

    /// The leader; nil where no process follows.
    var leader: Leader?
    /// The watch gap that the leader has recorded: a directory (empty: any), and the reason.
    var degraded: (directory: String, reason: String)?
    /// The directories that this user may not list, or whose file system fails, and the number of further ones.
    var unreadable: [(directory: String, error: Errno)] = []
    var moreUnreadable = 0
    /// The number of directories of the container.
    var directories = 0
    var instances: Limit?
    var watches: Limit?

    var findings: [Finding] { [election, degradation].compactMap(\.self) + hidden + headroom }

    private static let notAtOnce = "changes made without coordination do not arrive at once"

    private var election: Finding? {
        guard let leader else {
            return Finding(
                .leaderMissing, .note,
                "no process follows the container, so none watches for changes made without coordination",
                why: "they are found when the next follower or short command runs; coordinated changes are complete",
                remedy: "nothing, if that is meant; 'watch-group', or a program that follows, watches")
        }
        let name = MembersFacts.name(leader.process, leader.purpose)
        if leader.process.condition == .stopped {
            return Finding(
                .leaderStopped, .warning, process: leader.process.signalled, "the leader, \(name), is stopped",
                why: "\(Self.notAtOnce): another follower takes over, if there is one",
                remedy: MembersFacts.continuing(leader.process))
        }
        if leader.replies == false {
            return Finding(
                .leaderSilent, .warning, process: leader.process.signalled, "the leader, \(name), does not reply",
                why: "\(Self.notAtOnce): another follower takes over, if there is one",
                remedy:
                    "see what \(leader.process.description) is doing; when that process ends, another follower becomes leader"
            )
        }
        return nil
    }

    private var degradation: Finding? {
        // The next leader tries again to watch everything.
        if leader == nil { return nil }
        return degraded.map { degraded in
            Finding(
                .watchingDegraded, .warning, item: degraded.directory.isEmpty ? nil : degraded.directory,
                degraded.reason,
                why:
                    "\(Self.notAtOnce): they are found by periodic comparison, or not at all where the leader may not look",
                remedy: "do what that text suggests; the leader watches again by itself once it can")
        }
    }

    /// Reports the unreadable directories that the leader has not recorded itself.
    private var hidden: [Finding] {
        unreadable.filter { $0.directory != degraded?.directory }.enumerated().map { number, gap in
            let more = number == 0 && moreUnreadable > 0 ? " (and \(moreUnreadable) more like it)" : ""
            let isForbidden = gap.error == .accessDenied
            return Finding(
                .directoryUnreadable, .warning, item: gap.directory,
                (isForbidden ? "this user may not list it" : "it cannot be listed: \(gap.error)") + more,
                why: "a leader of this user sees nothing of what is changed below it",
                remedy: isForbidden
                    ? "give it permission: chmod u+rx, or g+rx for the container's group"
                    : "repair its file system, or unmount it")
        }
    }

    private var headroom: [Finding] {
        var found: [Finding] = []
        if let instances, instances.isReached {
            found.append(
                Finding(
                    .inotifyInstances, .warning, item: instances.limit.name,
                    "all inotify instances of this user are taken: \(instances.used) of \(instances.limit.number)",
                    why: "the next leader cannot watch, and finds changes by periodic comparison",
                    remedy: Self.raise(instances.limit, to: 0)))
        }
        let needed = (leader == nil ? directories : 0) + 2
        if let watches, watches.limit.number - watches.used < needed {
            found.append(
                Finding(
                    .inotifyWatches, .warning, item: watches.limit.name,
                    "\(watches.used) of \(watches.limit.number) inotify watches of this user are taken, and the container has \(directories) directories",
                    why: "changes in the directories that are not watched are found by periodic comparison",
                    remedy: Self.raise(watches.limit, to: (watches.used + directories) * 2)))
        }
        return found
    }

    private static func raise(_ limit: InotifyLimit, to least: Int) -> String {
        "raise the limit: '\(limit.raised(to: least))'; or run fewer programs that watch"
    }
}

extension WatchingFacts {
    /// Probes the leader, if there is one, and waits at most 1.5 s for its reply. Linear in the container's
    /// directories.
    init(_ container: CheckedContainer, _ journal: Journal?) {
        self.init()
        if let memberTable = container.memberTable { leader = container.leader(memberTable) }
        if let memberTable = container.memberTable, let journal { degraded = journal.degradation(memberTable) }
        count(container.directory)
        let used = OpenFiles.inotifyUse()
        instances = InotifyLimit(.instances).map { Limit(limit: $0, used: used.instances) }
        watches = InotifyLimit(.watches).map { Limit(limit: $0, used: used.watches) }
    }

    private static let named = 8

    private mutating func count(_ directory: ContainerDirectories) {
        var rest: [[UInt8]] = [[]]
        while let path = rest.popLast() {
            do throws(Errno) {
                let open = try FileDescriptor.open(
                    path.isEmpty ? [UInt8(ascii: ".")] : path, in: directory.root, [.reading, .directory])
                directories += 1
                // In another container only the directory itself is watched.
                if !path.isEmpty && ContainerMark.isIn(open) { continue }
                for (name, kind) in try open.entries() where !ContainerMark.isOne(name) {
                    var isDirectory = kind == .directory
                    if kind == .unknown { isDirectory = try open.statusIfPresent(of: name)?.isDirectory ?? false }
                    if isDirectory { rest.append(path.isEmpty ? name : path + [UInt8(ascii: "/")] + name) }
                }
            } catch {
                // What has a path that is too long is left out everywhere, so nothing is to be repaired.
                if [.noSuchEntry, .notADirectory, .tooManyLinks, .nameTooLong].contains(error) { continue }
                if unreadable.count < Self.named {
                    unreadable.append((path.isEmpty ? "." : printable(path), error))
                } else {
                    moreUnreadable += 1
                }
            }
        }
    }
}

extension CheckedContainer {
    fileprivate func leader(_ memberTable: MemberTable) -> WatchingFacts.Leader? {
        let term = memberTable.map.load64(MemberTableLayout.term)
        guard term > 0, isHeld(ContainerLock.leadership(term: term)),
            let slot = Int(exactly: memberTable.map.load64(MemberTableLayout.leader)),
            (1...MemberTableLayout.slotCount).contains(slot),
            let member = memberTable.member(at: slot - 1)
        else { return nil }
        var leader = WatchingFacts.Leader(process: member.process, purpose: member.purpose)
        if leader.process.condition != .stopped { leader.replies = replies(term) }
        return leader
    }

    /// Probes the leader as every follower does once a second; nil where this process may not. A reply of another
    /// leader counts as well.
    private func replies(_ term: UInt64) -> Bool? {
        guard let file = try? FileDescriptor.open(Array("members".utf8), in: directory.group, .readingAndWriting),
            let map = try? WritableMap(file, size: MemberTableLayout.size)
        else { return nil }
        map.store64(MemberTableLayout.probedAt, UInt64(bitPattern: monotonicNanoseconds()))
        let probe = map.add32(MemberTableLayout.probed, 1) &+ 1
        guard (try? file.touch()) != nil else { return nil }
        let deadline = Deadline(after: .milliseconds(1_500))
        while Int32(bitPattern: map.load32(MemberTableLayout.replied) &- probe) < 0 {
            // The leader has given up its term meanwhile, or died.
            if !isHeld(ContainerLock.leadership(term: term)) { return nil }
            if deadline.isOver { return false }
            pause(nanoseconds: 2_000_000)
        }
        return true
    }
}

extension Journal {
    /// Returns what the leader could not watch, by the record to which the member table points.
    fileprivate func degradation(_ memberTable: MemberTable) -> (directory: String, reason: String)? {
        let word = memberTable.map.load64(MemberTableLayout.degraded)
        if word == 0 { return nil }
        var position = LogPosition(
            segment: word >> 32, offset: Int(word & 0xffff_ffff), sequence: 0, checksum: 0)
        // The record is right at the position, or a few records later.
        for _ in 0..<1_000 {
            switch try? step(behind: position) {
            case .gap(let next): position = next
            case .entry(let entry):
                position = entry.position
                guard let record = entry.record, record.kind == .degraded, !record.purpose.isEmpty else { continue }
                return (printable(record.path), printable(record.purpose))
            case .end, .lost, nil: return ("", "watching is incomplete; the record with the reason is gone")
            }
        }
        return nil
    }
}
