import GroupSystemCalls
import Testing

struct `The use of a disk` {
    @Test func `a disk is used, the file system of the kernel has no size, and a missing path is an error`()
        throws
    {
        let disk = try DiskUse(of: Array("/".utf8))
        #expect(disk.used > 0)
        let directory = try FileDescriptor.open(path: Array("/".utf8), [.reading])
        let free = try directory.freeSpace().bytes
        // Others write meanwhile.
        #expect(max(free, disk.available) - min(free, disk.available) < 1 << 33)
        let kernel = try DiskUse(of: Array("/proc".utf8))
        #expect(kernel.used == 0 && kernel.available == 0)
        #expect(throws: Errno.noSuchEntry) { try DiskUse(of: Array("/proc/none".utf8)) }
    }
}
