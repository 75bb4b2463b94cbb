import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The presenters of a container, as its mechanisms see them.
extension OpenContainer {
    /// Returns the table of presenters; nil where no process has presented anything. Errors: `damaged`, `newerFormat`.
    /// System calls, once: openat2, statx, mmap
    func presenterTable() throws(CoordinationError) -> PresenterTable? {
        try presenters.withLock { (table) throws(CoordinationError) in
            if table == nil, let opened = try openPresenterTable() {
                table = opened
                lockManager.include { [members = memberTable] in opened.waits(of: members.presenterEntries()) }
            }
            return table
        }
    }

    private func openPresenterTable() throws(CoordinationError) -> PresenterTable? {
        try locating { () throws(CoordinationError) in
            try PresenterTable.open(in: directory, isOnlyForReading: isReadOnly, of: memberTable)
        }
    }

    /// Returns the table for a call that cannot go on without it. Errors: `damaged`, also where it was removed, and
    /// `newerFormat`
    func presenterTableInUse() throws(CoordinationError) -> PresenterTable {
        guard let table = try presenterTable() else { throw PresenterTable.removed.located(in: self) }
        return table
    }

    /// Runs `body` while no other thread or process writes an entry. Errors: `lockTimedOut`, `damaged`, `newerFormat`
    func withPresenterEntries<Answer>(
        _ operation: String, patience: Duration = .seconds(30), creating: Bool = false,
        _ body: (PresenterTable) throws(CoordinationError) -> Answer
    ) throws(CoordinationError) -> Answer {
        let handle = try locking(operation) { () throws(LockFileFailure) in try lockFile.borrow() }
        defer { lockFile.giveBack(handle) }
        let step = LockWaiter.Step(.exclusive, ByteRange(start: ContainerLock.presenting, length: 1))
        if (try? handle.descriptor.tryLock(step.lock, step.range)) != true {
            let outcome =
                patience > .zero ? KernelWait.block([step], on: handle, until: Deadline(after: patience)) : .timedOut
            switch outcome {
            case .granted: break
            case .failed(let errno): throw CoordinationError(errno, operation: operation, item: ".group/lock")
            case .timedOut, .cancelled:
                throw CoordinationError(
                    .lockTimedOut, operation: operation, item: PresenterTable.label,
                    reason: "another process has been writing it for too long",
                    remedy: .init(.endProcess, "end that process, and try again"))
            }
        }
        // Where items are presented, the entries are in the table that is missing.
        if creating, !memberTable.hasPresenters, try presenterTable() == nil {
            try PresenterTable.create(in: directory)
        }
        let table = try presenterTableInUse()
        let answer = try body(table)
        try table.checkIsWhole()
        return answer
    }

    /// Returns whether the process of a presenter lives. System calls: fcntl(F_OFD_GETLK)
    func isAlive(_ presenter: PresenterTable.Entry) -> Bool {
        memberTable.isAlive(presenter.slot, nonce: presenter.nonce)
    }

    /// Frees the entry of a presenter that has ended, or whose process is dead, and wakes those that ask it. Does not
    /// wait: from here on no request asks the presenter, and where another process has the lock of entries, the bits
    /// stay until a request meets them.
    func removePresenter(_ entry: Int, number: UInt64) {
        guard let table = try? presenterTable(), table.free(entry, of: number) else { return }
        let askers = Question.Slot.all(of: entry).compactMap { table.word(at: $0)?.asker }
        for asker in Set(askers) { table.wakeAskers(of: asker) }
        hideFreeEntries()
    }

    /// Clears the bits of free entries, unless another process has the lock of entries.
    func hideFreeEntries() {
        try? withPresenterEntries("free the presenter of", patience: .zero) { (table) throws(CoordinationError) in
            hideFreeEntries(of: table)
        }
    }

    /// Clears the bits of free entries, under the lock of entries.
    func hideFreeEntries(of table: PresenterTable) {
        let shown = memberTable.presenterEntries().map { ($0, table.entry($0)?.item.bytes) }
        memberTable.hidePresenters(
            shown.filter { $0.1 == nil }.map(\.0), leaving: shown.compactMap(\.1), key: hashKey)
    }

    /// Frees the entries of presenters whose processes are dead, and clears the bits of all free ones.
    func removeDeadPresenters() {
        guard let table = try? presenterTable() else { return }
        for index in memberTable.presenterEntries() {
            if let entry = table.entry(index), !isAlive(entry) { _ = table.free(index, of: entry.number) }
        }
        hideFreeEntries()
    }

    /// Gives a presenter another location, under the lock of entries.
    func move(_ presenter: PresenterTable.Entry, to location: ItemLocation, in table: PresenterTable) {
        if !presenter.answers.isEmpty { memberTable.showPresenter(presenter.index, of: location.bytes, key: hashKey) }
        table.move(presenter, to: location)
    }

    /// Gives presenters of items that were moved, and of items in them, their new locations. To be called before other
    /// requests are granted there, so that none misses them. Where the table is not to be had, the presenters'
    /// processes do it when they read the record.
    func movePresenters(by record: ChangeRecord) {
        guard memberTable.hasPresenters else { return }
        let moves = record.changes.compactMap { change -> (origin: ItemLocation, location: ItemLocation)? in
            guard change.kind == .moved, let origin = change.from.flatMap({ try? ItemLocation($0) }),
                let location = try? ItemLocation(change.path)
            else { return nil }
            return (origin, location)
        }
        if moves.isEmpty { return }
        try? withPresenterEntries("move the presenter of", patience: .seconds(1)) {
            (table) throws(CoordinationError) in
            for (origin, location) in moves {
                for index in memberTable.presenterEntries() {
                    guard let entry = table.entry(index), let moved = entry.item.following(origin, to: location) else {
                        continue
                    }
                    move(entry, to: moved, in: table)
                    // Its process compares the entry with what it knows.
                    table.wakePresenters(of: entry.slot)
                }
            }
        }
    }

    /// Returns a presenter for errors; nil if its process has ended.
    func holder(_ presenter: PresenterTable.Entry) -> CoordinationError.Holder? {
        var processes = ProcessTable()
        guard let member = memberTable.member(at: presenter.slot), member.nonce == presenter.nonce else { return nil }
        var holder = CoordinationError.Holder(
            processes.process(of: member), purpose: member.purpose, sinceNanoseconds: presenter.since,
            item: printable(presenter.item.bytes), isWriting: false)
        holder.isPresenting = true
        return holder
    }
}

extension OpenContainer {
    /// Returns a presented item with its questions, for people.
    func shown(_ presenter: PresenterTable.Entry) -> ContainerStatus.PresentedItem {
        let table = try? presenterTable()
        let questions = Question.Slot.all(of: presenter.index).compactMap { slot -> ContainerStatus.OpenQuestion? in
            guard let table, let word = table.word(at: slot), word.state != .claimed else { return nil }
            let content = table.content(at: slot)
            if content.presenter != presenter.number { return nil }
            return ContainerStatus.OpenQuestion(
                wanted: content.wanted, state: "\(word.state)",
                processIdentifier: memberTable.member(at: word.asker)?.process.identifier ?? 0,
                purpose: printable(content.purpose), item: printable(content.item), sinceNanoseconds: content.askedAt)
        }
        return ContainerStatus.PresentedItem(
            path: printable(presenter.item.bytes), answers: presenter.answers, sinceNanoseconds: presenter.since,
            questions: questions)
    }
}
