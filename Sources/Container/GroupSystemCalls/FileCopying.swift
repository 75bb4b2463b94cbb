import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Copying the content of one file into another: shared on the disk where the file system can do so, else copied by the
/// kernel, else through this process.
extension FileDescriptor {
    /// Copies everything of `source` to this empty file; the holes of `source` stay holes.
    /// System calls: ioctl(FICLONE), lseek(SEEK_DATA, SEEK_HOLE), copy_file_range(2), ftruncate(2), pread(2), write(2)
    package func copyContent(of source: borrowing FileDescriptor) throws(Errno) {
        let (from, to) = (source.number, number)
        if clinux_clone(to, from) == 0 {
            _ = try check { lseek(to, 0, SEEK_END) }
            return
        }
        var offset = 0
        while let data = try source.data(from: offset) {
            offset = data.lowerBound
            _ = try check { lseek(to, offset, SEEK_SET) }
            let copied = try copy(data, of: source)
            offset += copied
            // The source was truncated meanwhile.
            if copied < data.upperBound - data.lowerBound { return try setSize(offset) }
        }
        let size = Int(clamping: try source.status().size)
        if size > offset {
            try setSize(size)
            offset = size
        }
        // Files of the kernel's own have size 0, but may have content.
        _ = try check { lseek(to, offset, SEEK_SET) }
        _ = try copyThroughMemory(offset..<Int.max, of: source)
    }

    /// Returns the next range with data; nil where only a hole follows, or the end.
    private func data(from offset: Int) throws(Errno) -> Range<Int>? {
        let size = Int(clamping: try status().size)
        if offset >= size { return nil }
        do throws(Errno) {
            let start = try check { lseek(number, offset, Self.seekData) }
            let end = try check { lseek(number, start, Self.seekHole) }
            return start < end ? start..<end : nil
        } catch {
            if error.code == ENXIO { return nil }
            // The file system does not support the search for holes.
            if error == .invalid || error == .notSupported { return offset..<size }
            throw error
        }
    }

    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

    /// Copies a range to the present position of this file, and returns the number of bytes that there were.
    private func copy(_ range: Range<Int>, of source: borrowing FileDescriptor) throws(Errno) -> Int {
        let (from, to) = (source.number, number)
        var offset = range.lowerBound
        do throws(Errno) {
            _ = try check { lseek(from, offset, SEEK_SET) }
            while offset < range.upperBound {
                // Limited, so that a signal need not wait for gigabytes.
                let most = min(range.upperBound - offset, 1 << 26)
                let count = try retryingOnInterrupt { clinux_copy_range(from, to, most) }
                if count == 0 { break }
                offset += count
            }
        } catch {
            // This file system, or this kernel, cannot do it; it reports that before it has copied anything.
            let unable = [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF]
            if !unable.contains(error.code) { throw error }
        }
        if offset == range.upperBound { return offset - range.lowerBound }
        return offset - range.lowerBound + (try copyThroughMemory(offset..<range.upperBound, of: source))
    }

    private func copyThroughMemory(
        _ range: Range<Int>, of source: borrowing FileDescriptor
    ) throws(Errno) -> Int {
        let from = source.number
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let most = min(range.upperBound - offset, chunk.count)
            let start = offset
            let count = try retryingOnInterrupt {
                unsafe chunk.withUnsafeMutableBytes { unsafe pread(from, $0.baseAddress, most, start) }
            }
            if count == 0 { break }
            try writeAll(chunk.span.extracting(0..<count))
            offset += count
        }
        return offset - range.lowerBound
    }

    /// Returns whether two files have the same bytes from their present positions on. System calls: read(2)
    package func hasSameContent(as other: borrowing FileDescriptor) throws(Errno) -> Bool {
        var (mine, others) = ([UInt8](repeating: 0, count: 1 << 16), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let (count, otherCount) = (try readFully(into: &mine), try other.readFully(into: &others))
            if count != otherCount { return false }
            // Not `==` of slices, which a build for debugging does byte by byte.
            if unsafe memcmp(mine, others, count) != 0 { return false }
            if count == 0 { return true }
        }
    }

    /// Reads until the buffer is full or the file ends; returns the number of bytes.
    private func readFully(into chunk: inout [UInt8]) throws(Errno) -> Int {
        let (file, size) = (number, chunk.count)
        var done = 0
        while done < size {
            let start = done
            let count = try retryingOnInterrupt {
                unsafe chunk.withUnsafeMutableBytes {
                    unsafe readBytes(file, $0.baseAddress?.advanced(by: start), size - start)
                }
            }
            if count == 0 { break }
            done += count
        }
        return done
    }
}
