import GroupBytes
import GroupSystemCalls

/// A mount inside a container.
struct Mount: Hashable, Sendable {
    /// The kernel's number of the mount, which another mount may get later.
    var identifier: UInt64
    /// The device and the directory of it that are mounted.
    var source: [UInt8]
    var location: ItemLocation
    /// Whether a process serves the file system (FUSE), which may end.
    var isServed = false

    /// Returns the mounts that this process sees inside a container; none where /proc shows nothing. Linear in the
    /// mounts of the process. System calls: read(2) of /proc/self/mountinfo, readlink(2)
    static func inside(_ container: OpenContainer) -> Set<Mount> {
        guard let root = try? container.directory.root.absolutePath(),
            let table = try? FileDescriptor.open(path: Array("/proc/self/mountinfo".utf8), .reading).readAll(
                limit: 64 << 20)
        else { return [] }
        return inside(root, table)
    }

    /// Returns the mounts inside a directory, by a table as proc_pid_mountinfo(5) describes it: lines of `36 35 98:0
    /// /mnt1 /mnt2 … - ext3 …`, which are the number, that of the mount around it, the device, the directory that is
    /// mounted, its location, options, and behind a dash the type of the file system.
    static func inside(_ directory: [UInt8], _ table: [UInt8]) -> Set<Mount> {
        let prefix = directory.last == UInt8(ascii: "/") ? directory : directory + [UInt8(ascii: "/")]
        var mounts = Set<Mount>()
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 4, let number = UInt64(String(decoding: fields[0], as: UTF8.self)) else { continue }
            let path = unescaped(fields[4])
            guard path.starts(with: prefix), let location = try? ItemLocation(Array(path.dropFirst(prefix.count)))
            else {
                continue
            }
            let type = fields.dropFirst(5).drop { !$0.elementsEqual("-".utf8) }.dropFirst().first ?? []
            mounts.insert(
                Mount(
                    identifier: number, source: Array(fields[2] + [UInt8(ascii: " ")] + fields[3]), location: location,
                    isServed: type.starts(with: "fuse".utf8)))
        }
        return mounts
    }

    /// Returns a path of the table, in which space, tab, newline and backslash are written as `\\` and three octal
    /// digits.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (path, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                path.append(value)
                rest = rest.dropFirst(3)
            } else {
                path.append(byte)
            }
        }
        return path
    }
}

/// Mounts in the way of a rename: of what is mounted, the kernel refuses it (EBUSY), and a directory takes the mounts
/// below it along.
extension OpenContainer {
    /// Checks that nothing is mounted on a directory that is moved or removed, or below it. Errors:
    /// `unsupportedFileSystem`. System calls: those of `Mount.inside`
    func checkHasNoMount(_ directory: ItemLocation, _ operation: String) throws(CoordinationError) {
        let mounts = Mount.inside(self).map(\.location).filter { $0 == directory || $0.isBelow(directory) }
        guard let first = mounts.min(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) else { return }
        throw .mountPoint(first, directory, operation)
    }

    /// Returns the error for a rename that the kernel refused because one of the items is a mount point; nil if none
    /// is. System calls: those of `Mount.inside`
    func mountPoint(among items: [ItemLocation], _ operation: String) -> CoordinationError? {
        let mounts = Set(Mount.inside(self).map(\.location))
        return items.first(where: mounts.contains).map { .mountPoint($0, $0, operation) }
    }
}
