import GroupSystemCalls
import TestSupport
import Testing

/// Each in a process of its own: one that follows a container, as other tests do here, has a queue already.
@Suite(.timeLimit(.minutes(2)))
struct `An inotify queue` {
    /// A queue and what to wait with.
    struct Watcher {
        let queue: InotifyQueue
        let poller: Poller

        init() throws {
            queue = try InotifyQueue()
            poller = try Poller()
            try poller.add(queue.descriptor)
        }

        /// Events up to the first drain after which `isEnough`; what came until then when time is over.
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

    @Test func `tells of a file's life in order, its two names joined by a cookie`() async {
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

    @Test func `does not hear its own listing and reading`() async {
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

    @Test func `knows a directory that it watches already`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let queue = try InotifyQueue()
            #expect(try queue.watch(temporary.directory) == queue.watch(temporary.directory))
        }
    }

    @Test func `watches directories only`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let file = try temporary.open("hello", [.readingAndWriting, .creating])
            let queue = try InotifyQueue()
            #expect(throws: Errno.notADirectory) { try queue.watch(file) }
        }
    }

    @Test func `ends the watch of a directory that was removed, once nobody has it open`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            try temporary.directory.createDirectory(hello, mode: 0o700)
            let watcher = try Watcher()
            let outer = try watcher.queue.watch(temporary.directory)
            let directory = try FileDescriptor.open(hello, in: temporary.directory, [.placeOnly, .directory])
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

    @Test func `tells when a watched directory is moved`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            try temporary.directory.createDirectory(hello, mode: 0o700)
            let watcher = try Watcher()
            let watch = try watcher.queue.watch(
                FileDescriptor.open(hello, in: temporary.directory, [.placeOnly, .directory]))
            try temporary.directory.rename(hello, to: other, in: temporary.directory, replacing: false)
            let events = try watcher.events(until: .watchedMoved)
            #expect(events.map(\.watch) == [watch])
        }
    }

    @Test func `ends a watch that is taken back, also twice`() async {
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
    func `leaves a name as it is`(name: [UInt8]) async {
        await #expect(processExitsWith: .success) { [name] in
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            _ = try watcher.queue.watch(temporary.directory)
            try temporary.create(name)
            #expect(try watcher.events(until: .closedAfterWriting).map(\.name) == [name, name])
        }
    }

    @Test func `loses none of 5,000 files in a burst, and keeps nothing back`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let watcher = try Watcher()
            _ = try watcher.queue.watch(temporary.directory)
            let names = (0..<5000).map { Array("file-\($0)".utf8) }
            for name in names { try temporary.create(name) }
            // One drain, because all has happened: what the library keeps in its buffer, the descriptor does not show.
            let events = try watcher.queue.drain()
            #expect(events.filter { $0.kinds == .created }.map(\.name) == names)
            #expect(events.filter { $0.kinds == .closedAfterWriting }.map(\.name) == names)
            #expect(try watcher.poller.wait(nanoseconds: 0) == false)
        }
    }

    @Test func `says that it overflowed, and goes on`() async {
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

    @Test func `begins with nothing, and without the watches of the one before`() async {
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

    @Test func `is not inherited by a program that is started`() async {
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
        @Test func `is alone in its process`() async {
            await #expect(processExitsWith: .success) {
                limitLifetime()
                let first = try InotifyQueue()
                #expect(throws: Errno.busy) { try InotifyQueue() }
                _ = try first.drain()
            }
        }

        @Test func `rather fails than lets the library have a descriptor that select cannot`() async {
            await #expect(processExitsWith: .success) {
                limitLifetime()
                var pipes = Pipes()
                while pipes.highest < 1000 { try pipes.add() }
                #expect(throws: Errno.tooManyFiles) { try InotifyQueue() }
                pipes.removeAll()
                let queue = try InotifyQueue()
                #expect(queue.descriptor < 1000)
                // Nothing either of the directory by which the library's descriptor was found.
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
    let child = try ChildProcess(
        words.map { Array($0.utf8) }, input: input, output: pipe.writing, diesWithParent: false)
    _ = consume pipe
    let output = try reading.readAll()
    _ = try child.wait()
    return String(decoding: output, as: UTF8.self)
}

/// Descriptors, to have many of them.
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
