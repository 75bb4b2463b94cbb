import GroupSystemCalls

extension WatchingFacts {
    /// Asks the steward, if there is one, and waits at most 1.5 s for its answer. Linear in the container's folders.
    init(_ container: ExaminedContainer, _ journal: Journal?) {
        self.init()
        if let roster = container.roster { steward = container.steward(roster) }
        if let roster = container.roster, let journal { degraded = journal.degradation(roster) }
        count(container.folder)
        let used = OpenFiles.inotifyUse()
        instances = Self.limit("instances", used: used.instances)
        watches = Self.limit("watches", used: used.watches)
    }

    /// The lower one of the two that the kernel has: for all of the machine, and for this user namespace.
    private static func limit(_ what: String, used: Int) -> Limit? {
        ["fs.inotify.max_user_\(what)", "user.max_inotify_\(what)"].compactMap { name -> Limit? in
            let path = Array("/proc/sys/\(String(name.map { $0 == "." ? "/" : $0 }))".utf8)
            let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 64)) ?? []
            return Int(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)).map {
                Limit(name: name, limit: $0, used: used)
            }
        }.min { $0.limit < $1.limit }
    }

    private static let named = 8

    private mutating func count(_ folder: GroupFolder) {
        var rest: [[UInt8]] = [[]]
        while let path = rest.popLast() {
            do throws(Errno) {
                let open = try FileDescriptor.open(
                    path.isEmpty ? [UInt8(ascii: ".")] : path, in: folder.root, [.reading, .folder])
                folders += 1
                let entries = try open.entries()
                // Of another container only the folder itself is watched.
                if !path.isEmpty && entries.contains(where: { $0.kind != .other && ContainerMark.isOne($0.name) }) {
                    continue
                }
                for (name, kind) in entries where !ContainerMark.isOne(name) {
                    var isFolder = kind == .folder
                    if kind == .unknown { isFolder = try open.statusIfPresent(of: name)?.isFolder ?? false }
                    if isFolder { rest.append(path.isEmpty ? name : path + [UInt8(ascii: "/")] + name) }
                }
            } catch {
                if error != .accessDenied { continue }
                if unreadable.count < Self.named {
                    unreadable.append(path.isEmpty ? "." : printable(path))
                } else {
                    moreUnreadable += 1
                }
            }
        }
    }
}

extension ExaminedContainer {
    fileprivate func steward(_ roster: Roster) -> WatchingFacts.Steward? {
        let term = roster.map.load64(RosterLayout.term)
        guard term > 0, isHeld(LeaseBlock.office(term: term)),
            let slot = Int(exactly: roster.map.load64(RosterLayout.steward)),
            (1...RosterLayout.slotCount).contains(slot),
            let member = roster.member(at: slot - 1)
        else { return nil }
        var steward = WatchingFacts.Steward(process: member.process, purpose: member.purpose)
        if steward.process.condition != .stopped { steward.answers = answers(term) }
        return steward
    }

    /// As every follower asks, once a second; nil where this process may not. Another steward's answer is as good.
    private func answers(_ term: UInt64) -> Bool? {
        guard let file = try? FileDescriptor.open(Array("roster".utf8), in: folder.group, .readingAndWriting),
            let map = try? WritableMap(file, size: RosterLayout.size)
        else { return nil }
        map.store64(RosterLayout.askedAt, UInt64(bitPattern: monotonicNanoseconds()))
        let question = map.add32(RosterLayout.asked, 1) &+ 1
        guard (try? file.touch()) != nil else { return nil }
        let deadline = Deadline(after: .milliseconds(1_500))
        while Int32(bitPattern: map.load32(RosterLayout.answered) &- question) < 0 {
            // It gave its office up meanwhile, or died.
            if !isHeld(LeaseBlock.office(term: term)) { return nil }
            if deadline.isOver { return false }
            pause(nanoseconds: 2_000_000)
        }
        return true
    }
}

extension Journal {
    /// What the roster says that the steward could not watch, as its record has it.
    fileprivate func degradation(_ roster: Roster) -> (folder: String, reason: String)? {
        let word = roster.map.load64(RosterLayout.degraded)
        if word == 0 { return nil }
        var place = LogPosition(
            file: word >> 32, offset: Int(word & 0xffff_ffff), sequence: 0, checksum: 0)
        // It stands right behind the place, or a few records later.
        for _ in 0..<1_000 {
            switch try? step(behind: place) {
            case .gap(let next): place = next
            case .entry(let entry):
                place = entry.position
                guard let record = entry.record, record.kind == .degraded, !record.purpose.isEmpty else { continue }
                return (printable(record.path), printable(record.purpose))
            case .end, .lost, nil: return ("", "watching is incomplete; the record that says why is gone")
            }
        }
        return nil
    }
}
