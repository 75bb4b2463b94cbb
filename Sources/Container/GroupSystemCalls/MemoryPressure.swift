import CGroupLinux

/// Gives memory that was freed back to the kernel. The allocator keeps it otherwise, after a piece of work that took
/// much more than is left of it. Takes a millisecond or so. Library functions: malloc_trim(3)
package func releaseFreeMemory() { clinux_release_free_memory() }

/// The kernel's notification that memory is short: pressure stall information, where this user may use it.
package struct MemoryPressure: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// The descriptor, which is ready as `urgent` whenever processes had to wait for memory for 0.2 s of 2 s.
    package var descriptor: Int32 { file.number }

    /// Begins to monitor. Errors: `noSuchEntry`, `notPermitted`, `accessDenied`, `notSupported` where the kernel does
    /// not allow it.
    /// System calls: openat2(2), write(2)
    package init() throws(Errno) { file = try Self.asking() }

    private static func asking() throws(Errno) -> FileDescriptor {
        let file = try FileDescriptor.open(
            path: Array("/proc/pressure/memory".utf8), [.readingAndWriting, .nonBlocking])
        // Periods that are multiples of 2 s need no privilege.
        try file.writeAll(Array("some 200000 2000000\0".utf8))
        return file
    }
}
