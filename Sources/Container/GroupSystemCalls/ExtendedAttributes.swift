import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The extended attributes of a file: names with a namespace in front (`user.comment`), values of any bytes.
///
/// The calls that take a descriptor refuse a `pathOnly` one (EBADF), and a file that may not be read can only be opened
/// in that way. Then attributes are read through `/proc/thread-self/fd` (not every thread has the process's table: see
/// `SeparateTable`). A file system without attributes has none.
extension FileDescriptor {
    private var ownPath: [UInt8] { Array("/proc/thread-self/fd/\(number)".utf8) }

    /// Returns the names of all attributes that this user may see. System calls: listxattr(2)
    package func attributeNames() throws(Errno) -> [[UInt8]] {
        let path = ownPath
        return unsafe try Self.attributeNames { buffer, size in
            unsafe withCString(path) { unsafe listxattr($0, buffer, size) }
        }
    }

    /// Returns the names of the attributes of an entry of this directory, also of a symbolic link. The entry's name is
    /// one component. System calls: listxattrat(2); before Linux 6.13: llistxattr(2)
    package func attributeNames(ofEntry name: [UInt8]) throws(Errno) -> [[UInt8]] {
        let number = number
        return unsafe try Self.attributeNames { buffer, size in
            unsafe withCString(name) { unsafe clinux_list_attributes(number, $0, buffer, size) }
        }
    }

    private static func attributeNames(
        _ list: (UnsafeMutablePointer<CChar>?, Int) -> Int
    ) throws(Errno) -> [[UInt8]] {
        do throws(Errno) {
            let names = try unsafe growing { buffer, size in
                unsafe list(buffer?.assumingMemoryBound(to: CChar.self), size)
            }
            if names.isEmpty { return [] }
            return names.split(separator: 0).map(Array.init)
        } catch {
            if error == .notSupported { return [] }
            throw error
        }
    }

    /// Returns the value of an attribute; nil where there is none of that name. Errors: EACCES for an attribute of the
    /// namespace `user.` where the file may not be read, however it was opened. System calls: getxattr(2)
    package func attribute(_ name: [UInt8]) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            do throws(Errno) {
                return try unsafe growing { buffer, size in
                    unsafe withCString(name) { unsafe fgetxattr(number, $0, buffer, size) }
                }
            } catch {
                guard error.code == EBADF else { throw error }
                let path = ownPath
                return try unsafe growing { buffer, size in
                    unsafe withCString(path) { path in
                        unsafe withCString(name) { unsafe getxattr(path, $0, buffer, size) }
                    }
                }
            }
        } catch {
            if error == .notSupported || error == .noAttribute { return nil }
            throw error
        }
    }

    /// Sets an attribute, new or existing. System calls: fsetxattr(2)
    package func setAttribute(_ name: [UInt8], to value: [UInt8]) throws(Errno) {
        let number = number
        _ = try check {
            unsafe withCString(name) { name in
                unsafe value.withUnsafeBytes { unsafe fsetxattr(number, name, $0.baseAddress, $0.count, 0) }
            }
        }
    }

    /// Removes an attribute; does nothing where there is none. System calls: fremovexattr(2)
    package func removeAttribute(_ name: [UInt8]) throws(Errno) {
        let number = number
        do throws(Errno) {
            _ = try check { unsafe withCString(name) { unsafe fremovexattr(number, $0) } }
        } catch {
            if error != .notSupported && error != .noAttribute { throw error }
        }
    }
}

/// Returns the result of such a call, whatever its size. The value may grow between two calls, so a request for the
/// size first would not suffice either. The kernel's limit is 64 KiB; beyond it the error is E2BIG rather than ERANGE.
private func growing(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
    var size = 1_024
    while true {
        let found = unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
            Result { () throws(Errno) in
                let count = try check { unsafe call(buffer.baseAddress, buffer.count) }
                return unsafe Array(buffer[..<count])
            }
        }
        do throws(Errno) {
            return try found.get()
        } catch {
            if error.code != ERANGE || size > 1 << 17 { throw error }
            size *= 8
        }
    }
}
