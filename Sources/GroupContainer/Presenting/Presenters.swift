import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The presenters of a container, as its mechanisms see them.
extension OpenContainer {
    /// Returns the table of presenters; nil where no process has presented anything. System calls, once: openat2, mmap
    func presenterTable() throws(CoordinationError) -> PresenterTable? {
        try presenters.withLock { (table) throws(CoordinationError) in
            try openTable(&table, creating: false)
            return table
        }
    }

    private func openTable(_ table: inout PresenterTable?, creating: Bool) throws(CoordinationError) {
        if table != nil { return }
        table = try PresenterTable.open(in: directory, creating: creating)
        if let opened = table { lockManager.include(questions: opened.waits) }
    }

    /// Runs `body` while no other thread or process writes or frees an entry. Errors: `lockTimedOut`
    func withPresenterEntries<Answer>(
        _ operation: String, patience: Duration = .seconds(30),
        _ body: (PresenterTable) throws(CoordinationError) -> Answer
    ) throws(CoordinationError) -> Answer {
        let handle = try locking(operation) { () throws(LockFileFailure) in try lockFile.borrow() }
        defer { lockFile.giveBack(handle) }
        let step = LockWaiter.Step(.exclusive, ByteRange(start: ContainerLock.presenting, length: 1))
        if (try? handle.descriptor.tryLock(step.lock, step.range)) != true {
            switch KernelWait.block([step], on: handle, until: Deadline(after: patience)) {
            case .granted: break
            case .failed(let errno): throw CoordinationError(errno, operation: operation, item: ".group/lock")
            case .timedOut, .cancelled:
                throw CoordinationError(
                    .lockTimedOut, operation: operation, item: ".group/presenters",
                    reason: "another process has been writing it for too long",
                    remedy: .init(.endProcess, "end that process, and try again"))
            }
        }
        let table = try presenters.withLock { (table) throws(CoordinationError) -> PresenterTable? in
            try openTable(&table, creating: true)
            return table
        }
        guard let table else {
            throw .damaged(operation: operation, item: ".group/presenters", reason: "it was removed")
        }
        return try body(table)
    }

    /// Returns whether the process of a presenter lives. System calls: fcntl(F_OFD_GETLK)
    func isAlive(_ presenter: PresenterTable.Entry) -> Bool { isAlive(presenter.slot, nonce: presenter.nonce) }

    /// Returns whether the member that has drawn `nonce` still has the slot.
    func isAlive(_ slot: Int, nonce: UInt64) -> Bool {
        memberTable.map.load64(MemberTableLayout.slot(slot) + MemberTableLayout.nonce) == nonce
            && memberTable.isAlive(slot)
    }

    /// Frees the entry of a presenter whose process is dead.
    func removeDead(_ presenter: PresenterTable.Entry) {
        // Only tidies: the caller holds its locks.
        try? withPresenterEntries("free the presenter of", patience: .zero) { (table) throws(CoordinationError) in
            if table.entry(presenter.index)?.number == presenter.number { free(presenter.index, in: table) }
        }
    }

    /// Frees the entry of a presenter that has ended, and wakes those that ask it.
    func removePresenter(_ entry: Int, number: UInt64) {
        try? withPresenterEntries("end the presentation of") { (table) throws(CoordinationError) in
            guard table.entry(entry)?.number == number else { return }
            let askers = Question.Place.all(of: entry).compactMap { table.word(at: $0)?.asker }
            free(entry, in: table)
            for asker in Set(askers) { table.wakeAskers(of: asker) }
        }
    }

    /// Frees an entry, under the lock of entries.
    func free(_ entry: Int, in table: PresenterTable) {
        table.clear(entry)
        let left = memberTable.presenterEntries().filter { $0 != entry }.compactMap { table.entry($0)?.item.bytes }
        memberTable.hidePresenter(entry, leaving: left, key: hashKey)
    }

    /// Gives a presenter another place, under the lock of entries.
    func move(_ presenter: PresenterTable.Entry, to place: ItemLocation, in table: PresenterTable) {
        if !presenter.answers.isEmpty { memberTable.showPresenter(presenter.index, of: place.bytes, key: hashKey) }
        table.move(presenter, to: place)
    }

    /// Gives presenters of items that were moved, and of items in them, their new places. To be called before other
    /// requests are granted there, so that none misses them. Where the table is not to be had, the presenters' processes
    /// do it when they read the record.
    func movePresenters(by record: ChangeRecord) {
        guard memberTable.hasPresenters else { return }
        let moves = record.changes.compactMap { change -> (origin: ItemLocation, place: ItemLocation)? in
            guard change.kind == .moved, let origin = change.from.flatMap({ try? ItemLocation($0) }),
                let place = try? ItemLocation(change.path)
            else { return nil }
            return (origin, place)
        }
        if moves.isEmpty { return }
        try? withPresenterEntries("move the presenter of", patience: .seconds(1)) {
            (table) throws(CoordinationError) in
            for (origin, place) in moves {
                for index in memberTable.presenterEntries() {
                    guard let entry = table.entry(index), let moved = entry.item.following(origin, to: place) else {
                        continue
                    }
                    move(entry, to: moved, in: table)
                    // Its process compares the entry with what it knows.
                    table.wakePresenters(of: entry.slot)
                }
            }
        }
    }

    /// Returns a presenter for errors.
    func holder(_ presenter: PresenterTable.Entry) -> CoordinationError.Holder {
        var processes = ProcessTable()
        let item = printable(presenter.item.bytes)
        guard let member = memberTable.member(at: presenter.slot), member.nonce == presenter.nonce else {
            return CoordinationError.Holder(
                processIdentifier: 0, purpose: "", since: .init(nanoseconds: presenter.since), item: item,
                isWriting: false)
        }
        var holder = CoordinationError.Holder(
            processes.process(of: member), purpose: member.purpose, sinceNanoseconds: presenter.since, item: item,
            isWriting: false)
        holder.isPresenting = true
        return holder
    }
}

extension OpenContainer {
    /// Returns a presented item with its questions, for people.
    func shown(_ presenter: PresenterTable.Entry) -> ContainerStatus.PresentedItem {
        let table = try? presenterTable()
        let questions = Question.Place.all(of: presenter.index).compactMap { place -> ContainerStatus.OpenQuestion? in
            guard let table, let word = table.word(at: place), word.state != .claimed else { return nil }
            let content = table.content(at: place)
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
