import GroupBytes
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// Presenters and requests of one process: what is asked, of whom, and what follows.
@Suite(.ownThreads, .timeLimit(.minutes(2)))
struct Presenters {
    @Test func `the questions come in their order, and the change before the reacquisition`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        try await coordinator.write(bytes: [1], to: "a")
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        try await coordinator.updateBytes("a") { ($0 ?? []) + [2] }
        #expect(
            await presenter.calls(until: "reacquire modified a")
                == ["to writer", "save", "modified a", "reacquire modified a"])
        _ = try await coordinator.coordinate(.reading("a", .withoutChanges)) { try $0.readBytes("a") }
        try await coordinator.setMode(0o600, of: "a")
        _ = try await coordinator.coordinate(.reading("a", .immediatelyAvailableMetadataOnly)) { try $0.item("a") }
        #expect(await presenter.calls(until: "reacquire -").contains("to reader"))
        #expect(presenter.text.filter { $0.hasPrefix("to ") } == ["to writer", "to reader"])
        try await coordinator.remove("a")
        #expect(
            await presenter.calls(until: "reacquire removed a").suffix(4)
                == ["to writer", "deletion", "removed a", "reacquire removed a"])
        presentation.end()
        try await coordinator.write(bytes: [3], to: "a")
        #expect(!presenter.text.contains("created a"))
        #expect(try sample.isQuiet())
    }

    @Test func `a presenter that answers nothing is informed, and not asked`() async throws {
        let sample = try SampleContainer()
        let presenter = RecordingPresenter([])
        let presentation = try sample.container.present(presenter, at: "d")
        #expect(!sample.container.opened.memberTable.hasPresenters)
        try await sample.coordinator().write(bytes: [1], to: "d/a")
        try await sample.coordinator().write(bytes: [1], to: "other")
        try await sample.coordinator().remove("d", recursively: true)
        #expect(await presenter.calls(until: "removed d") == ["created d", "created d/a", "removed d"])
        withExtendedLifetime(presentation) {}
    }

    @Test func `a coordinator made for a presenter neither asks nor informs it`() async throws {
        let sample = try SampleContainer()
        let (one, two) = (RecordingPresenter(), RecordingPresenter())
        let presentation = try sample.container.present(one, at: "a")
        let other = try sample.container.present(two, at: "a")
        try await presentation.coordinator(purpose: "one").write(bytes: [1], to: "a")
        _ = try await presentation.coordinator(purpose: "one").transaction(.writing("a")) { access in
            _ = try access.write(bytes: [2], to: "a")
        }
        #expect(
            await two.calls(until: "reacquire modified a").filter { $0.hasPrefix("to") } == ["to writer", "to writer"])
        #expect(one.text.isEmpty)
        withExtendedLifetime((presentation, other)) {}
    }

    @Test func `a presenter saves with its coordinator, or with another one, and is not asked for that`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        let number = Guarded(UInt8(1))
        let presenter = RecordingPresenter(save: {
            let next = number.withLock { number in
                number += 1
                return number
            }
            try await coordinator.write(bytes: [next], to: "a")
            _ = try await coordinator.coordinate(.reading("a")) { (access: HeldAccess) in
                try await access.perform { _ in _ = try coordinator.blocking.readBytes("a") }
            }
        })
        let presentation = try sample.container.present(presenter, at: "a")
        #expect(try await coordinator.readBytes("a") == [2])
        #expect(try coordinator.blocking.readBytes("a") == [3])
        #expect(presenter.text.filter { $0 == "save" }.count == 2)
        withExtendedLifetime(presentation) {}
    }

    @Test func `a moved item is presented at its new place, also with a directory around it`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        try await coordinator.write(bytes: [1], to: "d/a")
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "d/a")
        try await coordinator.move("d/a", to: "d/b")
        #expect(await presenter.calls(until: "reacquire -").contains("moved to d/b"))
        try await coordinator.move("d", to: "e")
        #expect(await presenter.calls(until: "moved to e/b").contains("moved to e/b"))
        #expect(presentation.path == "e/b")
        try await coordinator.write(bytes: [2], to: "e/b")
        #expect(await presenter.calls(until: "reacquire modified e/b").last == "reacquire modified e/b")
        _ = try await coordinator.transaction(.writing("e/b", .forMoving), .writing("c", .forReplacing)) { access in
            _ = try access.move("e/b", to: "c")
        }
        #expect(await presenter.calls(until: "moved to c").contains("moved to c"))
        try await coordinator.write(bytes: [3], to: "c")
        #expect(await presenter.calls(until: "reacquire modified c").last == "reacquire modified c")
    }

    @Test func `a presenter that throws fails the request, which changes nothing`() async throws {
        struct Unsaved: Error, CustomStringConvertible { let description = "the disk is full" }
        let sample = try SampleContainer()
        let presenter = RecordingPresenter(save: { () async throws in throw Unsaved() })
        let presentation = try sample.container.present(presenter, at: "a")
        let error = await #expect(throws: CoordinationError.self) { try await sample.coordinator().readBytes("a") }
        #expect(error?.code == .presenterFailed && error?.reason.contains("the disk is full") == true)
        #expect(error?.holders.map(\.isPresenting) == [true])
        #expect(await presenter.calls(until: "reacquire -") == ["to reader", "save", "reacquire -"])
        withExtendedLifetime(presentation) {}
    }

    @Test func `a request that is cancelled or out of time ends, and its presenter reacquires`() async throws {
        let sample = try SampleContainer()
        let gate = OneShotEvent<Void>()
        let presenter = RecordingPresenter(save: { await gate.suspend() })
        let presentation = try sample.container.present(presenter, at: "a")
        let coordinator = sample.coordinator()
        #expect(code { try coordinator.blocking.readBytes("a", timeout: .zero) } == .lockTimedOut)
        #expect(presenter.text.isEmpty)
        #expect(code { try coordinator.blocking.readBytes("a", timeout: .milliseconds(50)) } == .lockTimedOut)
        let task = Task { try await coordinator.readBytes("a") }
        _ = await presenter.calls(until: "save")
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        gate.set(())
        #expect(await presenter.calls(until: "reacquire -").contains("reacquire -"))
        #expect(try sample.isQuiet())
        withExtendedLifetime(presentation) {}
    }

    @Test func `the grace passes over a presenter that hangs, and its late write is a conflict that leaves no lock`()
        async throws
    {
        let sample = try SampleContainer()
        var coordinator = sample.coordinator()
        coordinator.presenterGrace = .milliseconds(200)
        let (gate, failure) = (OneShotEvent<Void>(), Guarded<CoordinationError?>(nil))
        let presenter = RecordingPresenter(save: { [coordinator] in
            await gate.suspend()
            do {
                try await coordinator.write(bytes: [9], to: "a")
            } catch let error as CoordinationError {
                failure.withLock { $0 = error }
            }
        })
        let presentation = try sample.container.present(presenter, at: "a")
        let passedOver = try await coordinator.coordinate(.writing("a", .forMerging)) { access in
            _ = try access.write(bytes: [1], to: "a")
            return access.unresponsivePresenters
        }
        #expect(passedOver.map(\.item) == ["a"])
        gate.set(())
        #expect(await presenter.calls(until: "reacquire created a").last == "reacquire created a")
        #expect(failure.withLock { $0?.code } == .conflict)
        // The thread that ran the refused request is kept for later work, and the request's locks are not.
        #expect(try sample.container.status().members.flatMap(\.locks).isEmpty)
        #expect(
            try await coordinator.coordinate(.reading("a", .immediatelyAvailableMetadataOnly)) {
                try $0.item("a")?.size
            } == 1)
        withExtendedLifetime(presentation) {}
    }

    @Test func `an answer that asks a presenter which waits for this one ends in a deadlock`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        let codes = Guarded([CoordinationError.Code]())
        let crossing: @Sendable (ItemPath) -> @Sendable () async throws -> Void = { path in
            {
                do {
                    _ = try await coordinator.generation(of: path)
                } catch let error as CoordinationError {
                    codes.withLock { $0.append(error.code) }
                    throw error
                }
            }
        }
        let (one, two) = (RecordingPresenter(save: crossing("b")), RecordingPresenter(save: crossing("a")))
        let presentations = [try sample.container.present(one, at: "a"), try sample.container.present(two, at: "b")]
        let error = await #expect(throws: CoordinationError.self) { try await coordinator.generation(of: "a") }
        #expect(error?.code == .presenterFailed)
        #expect(codes.withLock { $0 } == [.deadlock, .presenterFailed])
        #expect(one.text.filter { $0 == "save" }.count == 1)
        withExtendedLifetime(presentations) {}
    }

    @Test func `presenters of one item that save at the same time wait for each other`() async throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator()
        let isFirst = Guarded(true)
        let save: @Sendable () async throws -> Void = {
            try await coordinator.coordinate(.writing("a")) { access in
                let isHolder = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                // The first one saves until the other one waits for the lock.
                if isHolder { #expect(try eventually { try !sample.waiting().isEmpty }) }
                _ = try access.write(bytes: [isHolder ? 1 : 2], to: "a")
            }
        }
        let (one, two) = (RecordingPresenter(save: save), RecordingPresenter(save: save))
        let presentations = [try sample.container.present(one, at: "a"), try sample.container.present(two, at: "a")]
        #expect(try await coordinator.readBytes("a") == [2])
        withExtendedLifetime(presentations) {}
    }

    @Test func `an answer that its presenter has withdrawn is asked for again, and not granted`() async throws {
        let sample = try SampleContainer()
        let opened = sample.container.opened
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        let request = AccessRequest(
            "read", Few(.reading("a")), by: opened, for: [], presenter: nil, grace: .seconds(60), needsAnswers: false)
        let resolution = try request.resolve()
        let grant = {
            let lock = try request.acquireBlocking(resolution, until: Deadline(after: nil), orUntil: nil)
            return GrantedRequest(
                request: request, resolution: resolution, frame: LockFrame(lock, outer: nil),
                deadline: Deadline(after: nil))
        }
        let first = try grant()
        let inquiry = Inquiry(first)
        let concern = request.concern(resolution)
        #expect(try !inquiry.isGranted(concern))
        first.frame.lock.end()
        try await inquiry.askElsewhere()
        // The request is stopped, and its deadline passes.
        let table = try #require(try opened.presenterTable())
        let place = try #require(
            opened.memberTable.presenterEntries().flatMap { Question.Slot.all(of: $0) }
                .first { table.word(at: $0)?.state == .answered })
        table.own?.store64(place.offset + PresenterTableLayout.deadline, 1)
        #expect(await presenter.calls(until: "reacquire -") == ["to reader", "save", "reacquire -"])
        let second = try grant()
        #expect(try !inquiry.isGranted(concern))
        second.frame.lock.end()
        inquiry.end()
        withExtendedLifetime(presentation) {}
    }

    @Test func `an answer that waits for a lock around the request ends in a deadlock`() throws {
        let sample = try SampleContainer()
        let coordinator = sample.coordinator().blocking
        let found = Guarded<CoordinationError.Code?>(nil)
        let presenter = RecordingPresenter(save: {
            do {
                _ = try await sample.coordinator().write(bytes: [1], to: "b")
            } catch let error as CoordinationError {
                found.withLock { $0 = error.code }
            }
        })
        let presentation = try sample.container.present(presenter, at: "a")
        try coordinator.coordinate(.writing("b")) { (_) throws in
            #expect(try coordinator.generation(of: "a") == nil)
        }
        #expect(found.withLock { $0 } == .deadlock)
        withExtendedLifetime(presentation) {}
    }

    @Test func `a presenter in another directory is not looked up, and one elsewhere is not asked`() throws {
        let sample = try SampleContainer()
        let presentation = try sample.container.present(RecordingPresenter(), at: "a")
        let memberTable = sample.container.opened.memberTable
        let tester = sample.coordinator().blocking
        for (intent, isFound) in [
            (AccessIntent.writing("b"), false), (.writing("a/x/y/z"), true), (.reading("a"), true),
        ] {
            try tester.coordinate(intent) { (access) throws in
                let lock = try #require(access.granted)
                #expect(memberTable.mayHavePresenter(of: lock) == isFound, "\(intent)")
            }
        }
        presentation.end()
        #expect(!memberTable.hasPresenters)
        #expect(!memberTable.map.hasBits(1_120, count: 32))
    }

    @Test func `a container has room for 256 presenters, and an entry that is free again is used`() throws {
        let sample = try SampleContainer()
        var presentations = try (0..<256).map {
            try sample.container.present(RecordingPresenter(), at: ItemPath("d/\($0)"))
        }
        #expect(code { try sample.container.present(RecordingPresenter(), at: "d/more") } == .limitReached)
        presentations.removeLast()
        presentations.append(try sample.container.present(RecordingPresenter(), at: "d/more"))
        #expect(try sample.container.status().members.flatMap(\.presentedItems).count == 256)
        presentations = []
        #expect(try sample.container.status().members.flatMap(\.presentedItems).isEmpty)
    }

    @Test func `a presentation ends at once while another process writes entries`() async throws {
        let sample = try SampleContainer()
        let opened = sample.container.opened
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        let handle = try opened.lockFile.borrow()
        #expect(
            try handle.descriptor.tryLock(.exclusive, ByteRange(start: ContainerLock.presenting, length: 1)))
        presentation.end()
        #expect(try opened.presenterTable()?.entries().isEmpty == true)
        #expect(opened.memberTable.hasPresenters, "its bits stay until the lock is free")
        var coordinator = sample.coordinator()
        coordinator.presenterGrace = .seconds(600)
        try await coordinator.write(bytes: [1], to: "a")
        #expect(presenter.text.isEmpty && opened.memberTable.hasPresenters)
        opened.lockFile.giveBack(handle)
        try await coordinator.write(bytes: [2], to: "a")
        #expect(!opened.memberTable.hasPresenters, "the next request clears them")
    }

    @Test(arguments: [.max, .max >> 1, .max >> 1 - 1, 1 << 63] as [UInt64])
    func `a forged counter of presenters' numbers keeps no presenter from being asked`(number: UInt64) async throws {
        let sample = try SampleContainer()
        let first = try sample.container.present(RecordingPresenter(), at: "b")
        try #require(try sample.container.opened.presenterTable()?.own).store64(
            PresenterTableLayout.numbers, number)
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        try await sample.coordinator().write(bytes: [1], to: "a")
        #expect(await presenter.calls(until: "reacquire created a").contains("to writer"))
        withExtendedLifetime((first, presentation)) {}
    }

    @Test func `presenters are told that the container was removed`() async throws {
        let sample = try SampleContainer()
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        try sample.temporary.run("rm", "-rf", ".group")
        #expect(await presenter.calls(until: "ended notFound").last == "ended notFound")
        withExtendedLifetime(presentation) {}
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a table of presenters with any bytes in it harms no request and no presenter`(seed: UInt64) async throws {
        let sample = try SampleContainer()
        var random = SeededGenerator(seed: seed)
        let presenter = RecordingPresenter()
        let presentation = try sample.container.present(presenter, at: "a")
        let table = try #require(try sample.container.opened.presenterTable())
        let map = try #require(table.own)
        // Anything but this process's own entry, and its places for questions, too.
        for _ in 0..<2_000 {
            let offset = Int.random(in: PresenterTableLayout.counters..<PresenterTableLayout.size, using: &random) & ~7
            let isOwn = (PresenterTableLayout.entry(0)..<PresenterTableLayout.entry(0) + 64).contains(offset)
            if !isOwn {
                map.store64(offset, Bool.random(using: &random) ? .random(in: 0...512, using: &random) : random.next())
            }
        }
        let bits = try #require(sample.container.opened.memberTable.own).map
        for word in 0..<8 { bits.setBits64(MemberTableLayout.presenters + word * 8, .max) }
        let coordinator = sample.coordinator()
        for number in 1...3 as ClosedRange<UInt8> {
            try await coordinator.write(bytes: [number], to: "a")
            #expect(try coordinator.blocking.readBytes("a") == [number])
        }
        _ = try sample.container.status()
        withExtendedLifetime(presentation) {}
    }
}
