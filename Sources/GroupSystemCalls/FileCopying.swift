import CGroupLinux
import Glibc

/// The content of one file into another: shared on the disk where the file system can, else copied by the kernel, else
/// through this process.
extension FileDescriptor {
    /// Everything from the beginning of `source`, to the beginning of this empty file.
    /// System calls: ioctl(FICLONE), copy_file_range(2), read(2), write(2)
    package func copyContent(of source: borrowing FileDescriptor) throws(Errno) {
        let (from, to) = (source.number, number)
        if clinux_clone(to, from) == 0 { return }
        do throws(Errno) {
            while true {
                // Bounded, so that a signal does not wait for gigabytes.
                let count = try retryingOnInterrupt { clinux_copy_range(from, to, 1 << 26) }
                if count == 0 { break }
            }
        } catch {
            // What this file system, or this kernel, cannot; it says so before it has copied anything.
            let unable = [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF]
            if !unable.contains(error.code) { throw error }
        }
        // Files of the kernel's own say that they are empty; and what could not be copied above is copied here.
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try source.read(into: &chunk)
            if count == 0 { return }
            try writeAll(Array(chunk[..<count]))
        }
    }

    /// Whether both have the same bytes from where they stand on. System calls: read(2)
    package func hasSameContent(as other: borrowing FileDescriptor) throws(Errno) -> Bool {
        var (mine, others) = ([UInt8](repeating: 0, count: 1 << 16), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let (count, otherCount) = (try readFully(into: &mine), try other.readFully(into: &others))
            if count != otherCount || mine[..<count] != others[..<count] { return false }
            if count == 0 { return true }
        }
    }

    private func readFully(into chunk: inout [UInt8]) throws(Errno) -> Int {
        var done = 0
        while done < chunk.count {
            var rest = [UInt8](repeating: 0, count: chunk.count - done)
            let count = try read(into: &rest)
            if count == 0 { break }
            chunk.replaceSubrange(done..<(done + count), with: rest[..<count])
            done += count
        }
        return done
    }
}
