import GroupSystemCalls
import TestSupport
import Testing

/// Each test runs in a process of its own: a process that follows a container, as other tests do here, has a queue
/// already.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `Inotify queues` {
    /// A queue, and a poller to wait with.
    struct Watcher {
        let queue: InotifyQueue
        let poller: Poller

        init() throws {
            queue = try InotifyQueue()
            poller = try Poller()
            try poller.add(queue.descriptor)
        }

        /// Returns the events up to the first drain after which `isEnough`; those that came until then when time is
        /// over.
        func events(until isEnough: ([InotifyEvent]) -> Bool) throws -> [InotifyEvent] {
            var events: [InotifyEvent] = []
            while !isEnough(events) {
                guard try poller.wait(nanoseconds: patience.nanoseconds) else {
                    Issue.record("nothing more after \(events)")
                    break
                }
                events += try queue.drain()
            }
            return events
        }

        func events(until kind: InotifyEvent.Kinds) throws -> [InotifyEvent] {
            try events { $0.contains { $0.kinds.contains(kind) } }
        }
    }

    @Test func `an inotify queue reports a file's events in order, the two names of a move with one cookie`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            let watch = try watcher.queue.watch(temporary.directory)

            let file = try temporary.open("hello", [.readingAndWriting, .creating])
            try file.writeAll([1])
            try file.setMode(0o644)
            _ = consume file
            try temporary.directory.rename(hello, to: other, in: temporary.directory, replacing: false)
            try temporary.directory.unlink(other)

            let events = try watcher.events(until: .removed)
            let kinds: [InotifyEvent.Kinds] = [
                .created, .modified, .attributesChanged, .closedAfterWriting, .movedFrom, .movedTo, .removed,
            ]
            #expect(events.map(\.kinds) == kinds)
            #expect(events.map(\.name) == Array(repeating: hello, count: 5) + [other, other])
            #expect(events.allSatisfy { $0.watch == watch })
            let cookies = events.map(\.cookie)
            #expect(cookies[4] != 0 && cookies[4] == cookies[5])
            #expect(cookies.filter { $0 != 0 }.count == 2)
        }
    }

    @Test func `an inotify queue does not report listing and reading`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            try temporary.create(hello)
            let watcher = try Watcher()
            _ = try watcher.queue.watch(temporary.directory)
            _ = try temporary.directory.entryNames()
            _ = try FileDescriptor.open(hello, in: temporary.directory, .reading).readAll()
            #expect(try watcher.queue.drain() == [])
        }
    }

    @Test func `watching a directory twice gives the same watch`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let queue = try InotifyQueue()
            #expect(try queue.watch(temporary.directory) == queue.watch(temporary.directory))
        }
    }

    @Test func `an inotify queue refuses to watch a file`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let file = try temporary.open("hello", [.readingAndWriting, .creating])
            let queue = try InotifyQueue()
            #expect(throws: Errno.notADirectory) { try queue.watch(file) }
        }
    }

    @Test func `the watch of a directory that was removed ends once no process has it open`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            try temporary.directory.createDirectory(hello, mode: 0o700)
            let watcher = try Watcher()
            let outer = try watcher.queue.watch(temporary.directory)
            let directory = try FileDescriptor.open(hello, in: temporary.directory, [.pathOnly, .directory])
            let inner = try watcher.queue.watch(directory)

            try temporary.directory.unlink(hello, directory: true)
            let removal = InotifyEvent(watch: outer, kinds: [.removed, .isDirectory], name: hello)
            let before = try watcher.queue.drain()
            #expect(before.contains(removal))
            #expect(!before.contains { $0.kinds.contains(.watchedRemoved) })

            _ = consume directory
            let after = try watcher.events(until: .ignored)
            #expect(after == [.init(watch: inner, kinds: .watchedRemoved), .init(watch: inner, kinds: .ignored)])
        }
    }

    @Test func `an inotify queue reports the move of a watched directory`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            try temporary.directory.createDirectory(hello, mode: 0o700)
            let watcher = try Watcher()
            let watch = try watcher.queue.watch(
                FileDescriptor.open(hello, in: temporary.directory, [.pathOnly, .directory]))
            try temporary.directory.rename(hello, to: other, in: temporary.directory, replacing: false)
            let events = try watcher.events(until: .watchedMoved)
            #expect(events.map(\.watch) == [watch])
        }
    }

    @Test func `a watch that is taken back ends, also if it is taken back twice`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            let watch = try watcher.queue.watch(temporary.directory)
            watcher.queue.unwatch(watch)
            watcher.queue.unwatch(watch)
            try temporary.create(hello)
            #expect(try watcher.events(until: .ignored) == [.init(watch: watch, kinds: .ignored)])
        }
    }

    @Test(arguments: [[0xff, 0xfe], [0x0a], Array(repeating: 0x80, count: 255)] as [[UInt8]])
    func `an inotify queue leaves a name as it is`(name: [UInt8]) async {
        await #expect(processExitsWith: .success) { [name] in
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            _ = try watcher.queue.watch(temporary.directory)
            try temporary.create(name)
            #expect(try watcher.events(until: .closedAfterWriting).map(\.name) == [name, name])
        }
    }

    @Test func `an inotify queue loses none of 5,000 files in a burst, and keeps nothing back`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            _ = try watcher.queue.watch(temporary.directory)
            let names = (0..<5000).map { Array("file-\($0)".utf8) }
            for name in names { try temporary.create(name) }
            // One drain, because all has happened: the descriptor does not show what the library keeps in its buffer.
            let events = try watcher.queue.drain()
            #expect(events.filter { $0.kinds == .created }.map(\.name) == names)
            #expect(events.filter { $0.kinds == .closedAfterWriting }.map(\.name) == names)
            #expect(try watcher.poller.wait(nanoseconds: 0) == false)
        }
    }

    @Test func `an inotify queue reports an overflow once, and goes on`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            let watch = try watcher.queue.watch(temporary.directory)
            for number in 0..<20_000 { try temporary.create(Array("file-\(number)".utf8)) }
            let events = try watcher.queue.drain()
            #expect(events.last == .init(watch: -1, kinds: .overflow))
            #expect(events.filter { $0.kinds == .overflow }.count == 1)

            try temporary.create(hello)
            let created = InotifyEvent(watch: watch, kinds: .created, name: hello)
            #expect(try watcher.events(until: .closedAfterWriting).first == created)
        }
    }

    @Test func `a new inotify queue has no events, and no watches of the one before`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            do {
                let watcher = try Watcher()
                _ = try watcher.queue.watch(temporary.directory)
                try temporary.create(hello)
            }
            let watcher = try Watcher()
            #expect(try watcher.queue.drain() == [])
            try temporary.create(other)
            #expect(try watcher.queue.drain() == [])
            _ = try watcher.queue.watch(temporary.directory)
            try temporary.directory.unlink(other)
            #expect(try watcher.events(until: .removed).map(\.name) == [other])
        }
    }

    @Test func `an inotify queue is not inherited by a program that is started`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let queue = try InotifyQueue()
            let input = try FileDescriptor.open(path: Array("/dev/null".utf8), .reading)
            let listing = try output(of: ["ls", "-l", "/proc/self/fd"], input)
            #expect(listing.contains("/dev/null"))
            #expect(!listing.contains("inotify"))
            _ = try queue.drain()
        }
    }

    #if InotifyTools
    @Test func `a second inotify queue in a process is refused`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let first = try InotifyQueue()
            #expect(throws: Errno.busy) { try InotifyQueue() }
            _ = try first.drain()
        }
    }

    @Test func `an inotify queue is refused if its descriptor would be too large for select`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            var pipes = Pipes()
            while pipes.highest < 1000 { try pipes.add() }
            #expect(throws: Errno.tooManyFiles) { try InotifyQueue() }
            pipes.removeAll()
            let queue = try InotifyQueue()
            #expect(queue.descriptor < 1000)
            // Nor is there an event of the directory by which the library's descriptor was found.
            #expect(try queue.drain() == [])
        }
    }
    #endif
}

private let hello = Array("hello".utf8)
private let other = Array("other".utf8)

private func output(of words: [String], _ input: borrowing FileDescriptor) throws -> String {
    let pipe = try Pipe()
    let reading = try pipe.reading.duplicate()
    let child = try ChildProcess.start(
        words.map { Array($0.utf8) }, input: input.number, output: pipe.writing.number, variables: [])
    _ = consume pipe
    let output = try reading.readAll()
    _ = try child.wait()
    return String(decoding: output, as: UTF8.self)
}

/// Pipes, to have many descriptors.
private struct Pipes {
    private final class Owner {
        let pipe: Pipe
        init() throws { pipe = try Pipe() }
    }

    private var owners: [Owner] = []

    /// The highest descriptor so far.
    var highest: Int32 { owners.map { $0.pipe.writing.number }.max() ?? -1 }

    mutating func add() throws { owners.append(try Owner()) }
    mutating func removeAll() { owners.removeAll() }
}
