import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A life of a file system: from its first mount until its last mount is gone. Other mounts of it, in another mount
/// namespace for instance, have the same life; after it is unmounted and mounted again it has another one.
package struct FileSystemLife: Equatable, Sendable {
    package var boot: [UInt8]
    package var device: UInt64
    /// The mount through which it was read; 0 where the kernel may use the number again.
    package var mount: UInt64
    /// A number that all mounts of this life share, and no other life in this boot has; 0 where no such number is
    /// available.
    package var session: UInt64

    package init(boot: [UInt8], device: UInt64, mount: UInt64, session: UInt64) {
        self.boot = boot
        self.device = device
        self.mount = mount
        self.session = session
    }

    /// Returns whether the content of a file of it was written in this life. `other` has a mount or a session that it
    /// was seen with: neither number is ever used again, so one that is still there has been there all the time.
    package func isSame(as other: FileSystemLife) -> Bool {
        boot == other.boot && device == other.device
            && (mount != 0 && mount == other.mount || session != 0 && session == other.session)
    }
}

extension FileDescriptor {
    /// Returns the life of the file system that contains the file, without its session.
    package func fileSystemLife(_ status: FileStatus) throws(Errno) -> FileSystemLife {
        FileSystemLife(
            boot: try bootIdentifier(), device: status.device, mount: status.mountIsUnique ? status.mountID : 0,
            session: 0)
    }

    /// Returns the number for `FileSystemLife.session`. A file system in memory ends with its last mount. A file system
    /// on a disk has a directory in /sys/fs as long as it is mounted, and the inode number of that directory is not
    /// used again in the same boot.
    /// System calls: fstatfs(2), readlinkat(2), openat2(2), statx(2)
    package func fileSystemSession(_ status: FileStatus) -> UInt64 {
        switch UInt32(truncatingIfNeeded: (try? fileSystemType()) ?? 0) {
        case 0x0102_1994: return 1
        case 0xef53: return blockDevice(of: status).map { Self.identity(ofSession: "ext4/\($0)") } ?? 0
        case 0x5846_5342: return blockDevice(of: status).map { Self.identity(ofSession: "xfs/\($0)") } ?? 0
        case 0x9123_683e: return uuid().map { Self.identity(ofSession: "btrfs/\($0)") } ?? 0
        default: return 0
        }
    }

    /// Returns the kernel's name of the device, such as "sda1".
    private func blockDevice(of status: FileStatus) -> String? {
        let directory = try? FileDescriptor.open(path: Array("/sys/dev/block".utf8), [.pathOnly, .directory])
        let name = Array("\(status.device >> 32):\(status.device & 0xffff_ffff)".utf8)
        guard let target = try? directory?.linkTarget(of: name), let device = target.split(separator: 0x2f).last else {
            return nil
        }
        return String(validating: device, as: UTF8.self)
    }

    private func uuid() -> String? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let number = number
        let answer = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe clinux_filesystem_uuid(number, buffer.baseAddress)
        }
        if answer != 0 { return nil }
        let digits = Array(bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private static let sysfs = 0x6265_6572

    /// Returns the inode number of the directory, or 0 where there is none, as in a sandbox without /sys.
    private static func identity(ofSession path: String) -> UInt64 {
        guard let directory = try? open(path: Array("/sys/fs/\(path)".utf8), [.pathOnly, .directory]),
            (try? directory.fileSystemType()) == sysfs
        else { return 0 }
        return (try? directory.status().inode) ?? 0
    }
}
