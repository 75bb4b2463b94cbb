#if InotifyTools
import CGroupInotifyTools
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The source of events by way of libinotifytools 3.22. Only those of its functions are called that were measured
/// to be sound: its initialization, once in a process and never undone, one watch, and
/// `inotifytools_next_events(0, 1)`. Watches are made by the kernel's own calls on its descriptor: the library's
/// recursion loses directories, and its table serves only the recursion.
struct InotifySource: ~Copyable {
    static let descriptorLimit: Int32? = Library.descriptorLimit
    let descriptor: Int32

    /// Borrows the library from the process; EBUSY while another source has it.
    init() throws(Errno) {
        // Inside the lock, because the library consists of static variables.
        descriptor = try library.withLock { (library) throws(Errno) in try library.claim() }
    }

    deinit {
        // The library stays; the watches that were made through it must not.
        for watch in (try? watches(of: descriptor)) ?? [] { inotify_rm_watch(descriptor, watch.number) }
        library.withLock { $0.isInUse = false }
    }

    /// System calls: select(2), ioctl(FIONREAD), read(2)
    func read(atMost limit: Int) throws(Errno) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        while events.count < limit, let event = try nextEvent() { events.append(event) }
        return events
    }
}

private let library = Guarded(Library())

/// The library's static variables, as far as they are known.
private struct Library {
    /// select(2), by which the library reads, ends the process at a descriptor of 1024.
    static let descriptorLimit: Int32 = 1000

    var descriptor: Int32?
    var isInUse = false

    mutating func claim() throws(Errno) -> Int32 {
        if isInUse { throw .busy }
        if descriptor == nil { descriptor = try find() }
        guard let descriptor else { throw .noSuchEntry }
        if descriptor >= Self.descriptorLimit { throw .tooManyFiles }
        // Events that the sentinel or an earlier borrower left behind, in the kernel's queue or the library's
        // buffer.
        while try nextEvent() != nil {}
        isInUse = true
        return descriptor
    }

    /// Initializes the library and finds its descriptor, which the library does not return: it is the descriptor
    /// that watches a certain file in memory, which has no name that could stay behind, and which no other code can
    /// know.
    /// System calls: memfd_create(2), inotify_init(2), inotify_add_watch(2), fcntl(F_SETFD)
    private func find() throws(Errno) -> Int32 {
        // The library would keep a number that is too high: better not to begin.
        if !(try InotifyNumber.isBelow(Self.descriptorLimit)) { throw .tooManyFiles }
        let sentinel = try FileDescriptor.inMemory()
        let inode = try sentinel.status().inode
        // Another queue of the process may watch a directory of the same inode number on another disk.
        let others = try descriptors(watching: inode).map(\.number)
        InotifyNumber.release()
        guard inotifytools_initialize() != 0 else { throw Errno(inotifytools_error()) }
        let path = Array("/proc/self/fd/\(sentinel.number)".utf8)
        guard unsafe withCString(path, { unsafe inotifytools_watch_file($0, IN_DELETE_SELF) }) != 0 else {
            throw Errno(inotifytools_error())
        }
        guard let found = try descriptors(watching: inode).first(where: { !others.contains($0.number) }) else {
            throw .noSuchEntry
        }
        inotify_rm_watch(found.number, found.watch)
        _ = try check { fcntl(found.number, F_SETFD, FD_CLOEXEC) }
        return found.number
    }

    /// System calls: getdents(2), read(2)
    private func descriptors(watching inode: UInt64) throws(Errno) -> [(number: Int32, watch: Int32)] {
        let directory = try FileDescriptor.open(path: Array("/proc/self/fdinfo".utf8), [.reading, .directory])
        return try directory.entryNames().compactMap { name in
            // A descriptor that cannot be read was closed meanwhile, by another thread or with the list.
            guard let number = Int32(String(decoding: name, as: UTF8.self)), let watches = try? watches(of: number),
                let watch = watches.first(where: { $0.inode == inode })
            else { return nil }
            return (number, watch.number)
        }
    }
}

/// Returns the next event in the library's buffer or the kernel's queue, without waiting; nil if there is none.
/// Requests one event at a time, because the library spins until it has as many as were requested;
/// `inotifytools_next_event(0)` would wait.
private func nextEvent() throws(Errno) -> InotifyEvent? {
    while true {
        if let event = unsafe inotifytools_next_events(0, 1) { return unsafe InotifyEvent(UnsafeRawPointer(event)) }
        let error = inotifytools_error()
        if error == 0 { return nil }
        if error != EINTR { throw Errno(error) }
    }
}

/// Returns the watches of an inotify descriptor of this process; nothing for any other descriptor.
/// Reads /proc/self/fdinfo, lines like `inotify wd:1 ino:b sdev:1b mask:400 …` with hexadecimal numbers.
private func watches(of descriptor: Int32) throws(Errno) -> [(number: Int32, inode: UInt64)] {
    let file = try FileDescriptor.open(path: Array("/proc/self/fdinfo/\(descriptor)".utf8), .reading)
    var (text, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65_536))
    while true {
        let count = try file.read(into: &chunk)
        if count == 0 { break }
        text.append(contentsOf: chunk[..<count])
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ", maxSplits: 3)
        guard fields.count >= 3, fields[0] == "inotify", fields[1].hasPrefix("wd:"), fields[2].hasPrefix("ino:"),
            let number = Int32(fields[1].dropFirst(3), radix: 16),
            let inode = UInt64(fields[2].dropFirst(4), radix: 16)
        else { return nil }
        return (number, inode)
    }
}
#endif
