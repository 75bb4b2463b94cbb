import CGroupLinux
import Glibc

/// A file's extended attributes: names with a namespace in front (`user.comment`), values of any bytes.
///
/// They are read through `/proc/thread-self/fd` (not every thread has the process's table: see `SeparateTable`), because the calls that take a descriptor refuse a `placeOnly` one, and a file
/// that may not be read can only be opened as that. A file system without attributes has none.
extension FileDescriptor {
    private var ownPath: [UInt8] { Array("/proc/thread-self/fd/\(number)".utf8) }

    /// The names of all that this user may see. System calls: listxattr(2)
    package func attributeNames() throws(Errno) -> [[UInt8]] {
        let path = ownPath
        do throws(Errno) {
            let names = try unsafe growing { buffer, size in
                unsafe withCString(path) { unsafe listxattr($0, buffer?.assumingMemoryBound(to: CChar.self), size) }
            }
            return names.split(separator: 0).map(Array.init)
        } catch {
            if error == .notSupported { return [] }
            throw error
        }
    }

    /// An attribute's value; nil where there is none of that name. Errors: EACCES for one of a user (`user.`) where the
    /// file may not be read, however it was opened. System calls: getxattr(2)
    package func attribute(_ name: [UInt8]) throws(Errno) -> [UInt8]? {
        let path = ownPath
        do throws(Errno) {
            return try unsafe growing { buffer, size in
                unsafe withCString(path) { path in
                    unsafe withCString(name) { unsafe getxattr(path, $0, buffer, size) }
                }
            }
        } catch {
            if error == .notSupported || error == .noAttribute { return nil }
            throw error
        }
    }

    /// Makes or replaces an attribute. System calls: fsetxattr(2)
    package func setAttribute(_ name: [UInt8], to value: [UInt8]) throws(Errno) {
        let number = number
        _ = try check {
            unsafe withCString(name) { name in
                unsafe value.withUnsafeBytes { unsafe fsetxattr(number, name, $0.baseAddress, $0.count, 0) }
            }
        }
    }

    /// Nothing is left of it; nothing happens where there was none. System calls: fremovexattr(2)
    package func removeAttribute(_ name: [UInt8]) throws(Errno) {
        let number = number
        do throws(Errno) {
            _ = try check { unsafe withCString(name) { unsafe fremovexattr(number, $0) } }
        } catch {
            if error != .notSupported && error != .noAttribute { throw error }
        }
    }
}

/// What such a call answers, however much that is: it may grow between two calls, so asking for the size first would not
/// do either. The kernel's limit is 64 KiB, beyond which it says E2BIG rather than ERANGE.
private func growing(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
    var size = 1_024
    while true {
        var buffer = [UInt8](repeating: 0, count: size)
        do throws(Errno) {
            let count = try check { unsafe buffer.withUnsafeMutableBytes { unsafe call($0.baseAddress, $0.count) } }
            return Array(buffer[..<count])
        } catch {
            if error.code != ERANGE || size > 1 << 17 { throw error }
            size *= 8
        }
    }
}
