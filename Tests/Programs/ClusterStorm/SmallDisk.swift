import Foundation
import Glibc
import TestSupport

/// A small file system in memory at a directory, which can be filled.
final class SmallDisk {
    let path: String
    private let device: UInt64
    private let size: Int

    init(_ path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let outside = Self.device(path)
        if !succeeds(["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "none", path]) {
            throw TemporaryContainer.Failed(description: "no file system can be mounted at \(path)")
        }
        device = Self.device(path)
        size = megabytes << 20
        if device == outside { throw TemporaryContainer.Failed(description: "\(path) is not a file system of its own") }
    }

    private static func device(_ path: String) -> UInt64 {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? UInt64(information.st_dev) : 0
    }

    private var filler: String { "\(path)/filler" }

    /// Leaves not one byte free. Writes only to the file system that was mounted, and never more than fits there.
    func fill() throws {
        guard Self.device(path) == device else {
            throw TemporaryContainer.Failed(description: "\(path) is not the small file system: not filled")
        }
        _ = succeeds(["dd", "if=/dev/zero", "of=\(filler)", "bs=64k", "count=\(size / 65_536 + 1)"])
        _ = succeeds(["dd", "if=/dev/zero", "of=\(filler)2", "bs=4k", "count=32"])
    }

    func makeRoom() throws {
        for file in [filler, filler + "2"] { unsafe unlink(file) }
    }

    func unmount() { _ = succeeds(["umount", path]) }
}
