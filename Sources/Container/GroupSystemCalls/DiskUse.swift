#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How full a file system is, in bytes, as df(1) prints it: what is reserved for root is neither used nor available.
package struct DiskUse: Sendable {
    package let used: UInt64
    package let available: UInt64

    /// Reads the use of the file system of a path. Both are 0 for one that stores nothing, such as /proc.
    /// The corresponding C function is `statvfs`. System calls: statfs(2)
    package init(of path: [UInt8]) throws(Errno) {
        var status = statvfs()
        _ = try retryingOnInterrupt { unsafe withCString(path) { unsafe statvfs($0, &status) } }
        let blocks = UInt64(status.f_blocks) - min(UInt64(status.f_blocks), UInt64(status.f_bfree))
        used = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        available = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
    }
}
