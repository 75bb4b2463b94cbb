import Glibc
package import GroupSystemCalls

/// The files of a container on the disk, changed as by a program that does not coordinate. New items have mode 0644 or
/// 0755, whatever the umask.
package struct DiskTree: SteppableTree, Sendable {
    private let container: [UInt8]

    package init(_ container: String) { self.container = Array(container.utf8) }

    private func place(_ path: [UInt8]) -> [UInt8] { container + [UInt8(ascii: "/")] + path }

    private func call(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Int32) throws(Errno) {
        let answer = unsafe (place(path) + [0]).withUnsafeBytes { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe $0.baseAddress.map { unsafe body($0) } ?? -1 }
        }
        if answer != 0 { throw Errno(errno) }
    }

    private struct Place: ~Copyable {
        var directory: FileDescriptor
        var name: [UInt8]
    }

    private func parent(_ path: [UInt8]) throws(Errno) -> Place {
        let whole = place(path)
        let slash = whole.lastIndex(of: UInt8(ascii: "/")) ?? 0
        let directory = try FileDescriptor.open(path: Array(whole[..<slash]), [.pathOnly, .directory])
        return Place(directory: directory, name: Array(whole[(slash + 1)...]))
    }

    private func put(_ path: [UInt8], _ text: [UInt8], _ access: FileDescriptor.OpenMode, at end: Bool = false)
        throws(Errno)
    {
        let file = try FileDescriptor.open(path: place(path), access.union([.writing, .nonBlocking]), mode: 0o644)
        if end { lseek(file.number, 0, SEEK_END) }
        try file.writeAll(text)
    }

    package func performSimple(_ step: TreeStep) throws(Errno) {
        switch step {
        case .create(let path): try put(path, [], [.creating, .exclusively])
        case .write(let path, let text): try put(path, text, [.creating, .truncating])
        case .append(let path, let text): try put(path, text, [.creating], at: true)
        case .rewrite(let path, let text): try put(path, text, [])
        case .truncate(let path, let size): unsafe try call(path) { unsafe truncate($0, off_t(size)) }
        case .mkdir(let path): unsafe try call(path) { unsafe mkdir($0, 0o755) }
        case .rm(let path): unsafe try call(path) { unsafe unlink($0) }
        case .rmdir(let path): unsafe try call(path) { unsafe rmdir($0) }
        case .symlink(let target, let path):
            let place = try parent(path)
            try place.directory.makeLink(place.name, to: target)
        case .mv(let from, let to):
            let old = try parent(from)
            let new = try parent(to)
            try old.directory.rename(old.name, to: new.name, in: new.directory, replacing: true)
        case .exchange(let one, let other):
            let old = try parent(one)
            let new = try parent(other)
            try old.directory.exchange(old.name, with: new.name, in: new.directory)
        case .ln(let from, let to):
            let old = try parent(from)
            let new = try parent(to)
            try old.directory.link(old.name, as: new.name, in: new.directory)
        case .chmod(let mode, let path): unsafe try call(path) { unsafe Glibc.chmod($0, mode) }
        case .chown(let owner, let path): unsafe try call(path) { unsafe lchown($0, owner, owner) }
        case .touch(let path): unsafe try call(path) { unsafe utimensat(AT_FDCWD, $0, nil, AT_SYMLINK_NOFOLLOW) }
        case .date(let seconds, let path):
            let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2)
            unsafe try call(path) { unsafe utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) }
        case .xattr(let path, let value):
            let file = try FileDescriptor.open(path: place(path), .reading)
            try file.setAttribute(Array("user.note".utf8), to: value)
        case .fifo(let path): unsafe try call(path) { unsafe mknod($0, S_IFIFO | 0o644, 0) }
        case .socket(let path): unsafe try call(path) { unsafe mknod($0, S_IFSOCK | 0o644, 0) }
        case .mkdirs, .rmtree, .copy, .copytree: throw .invalid
        }
    }

    package func isDirectory(_ path: [UInt8]) throws(Errno) -> Bool {
        let place = try parent(path)
        return try place.directory.status(of: place.name).isDirectory
    }

    package func content(_ path: [UInt8]) throws(Errno) -> [UInt8] {
        let file = try FileDescriptor.open(path: place(path), [.reading, .nonBlocking])
        if try !file.status().isRegularFile { throw .invalid }
        return try file.readAll()
    }

    package func linkTarget(_ path: [UInt8]) throws(Errno) -> [UInt8]? {
        let place = try parent(path)
        return try place.directory.status(of: place.name).isLink ? place.directory.linkTarget(of: place.name) : nil
    }

    package func entries(_ directory: [UInt8]) throws(Errno) -> [[UInt8]] {
        try FileDescriptor.open(path: place(directory), [.reading, .directory]).entryNames()
    }
}
