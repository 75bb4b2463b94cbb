import GroupBytes
import GroupSystemCalls

/// The first directory on the way to a container's staging directory that this process cannot enter.
struct PathObstacle: Error, CustomStringConvertible {
    /// A directory that this user may not enter.
    struct Barrier: Equatable, Sendable {
        var path: String
        var owner: UInt32
        var group: UInt32
        var mode: UInt32
        var user: UInt32

        /// Whether the directory is this user's own, and only its mode is in the way.
        var isOwn: Bool { owner == user && mode & 0o500 != 0o500 }
        /// Whether members of the directory's group may enter it.
        var isForGroup: Bool { mode & 0o050 == 0o050 }
    }

    /// The path of the directory, and the last component of it with its slash.
    var prefix: [UInt8]
    var part: [UInt8]
    var reason: Errno

    var description: String { "\(printable(prefix)): \(reason)" }

    /// Returns the first obstacle to a container's staging directory; nil where there is none. System calls: openat2,
    /// for each component
    static func first(to container: [UInt8]) -> PathObstacle? {
        var prefix: [UInt8] = []
        for part in parts(of: container) + [Array("/.group".utf8), Array("/staging".utf8)] {
            prefix += part
            do throws(Errno) {
                // Opens the directory itself: that requires permission to enter it.
                _ = try FileDescriptor.open(path: prefix, [.pathOnly, .directory])
                if prefix.starts(with: container),
                    (try? FileDescriptor.open(path: prefix, [.reading, .directory])) == nil
                {
                    throw Errno.accessDenied
                }
            } catch {
                return PathObstacle(prefix: prefix, part: part, reason: error)
            }
        }
        return nil
    }

    /// Returns the parts of a path: "/a" and "/b" of "/a/b/". The first part of a relative path has no slash.
    private static func parts(of path: [UInt8]) -> [[UInt8]] {
        let slash = UInt8(ascii: "/")
        return path.split(separator: slash).enumerated().map { number, part in
            (number > 0 || path.first == slash ? [slash] : []) + part
        }
    }

    /// What this user may not enter: the directory itself, or else the one that contains it. Nil for another obstacle,
    /// and where neither can be seen.
    var barrier: Barrier? {
        if reason != .accessDenied { return nil }
        for path in [prefix, Array(prefix.dropLast(part.count))] where !path.isEmpty {
            guard let status = try? FileDescriptor.open(path: path, .pathOnly).status() else { continue }
            return Barrier(
                path: printable(path), owner: status.owner, group: status.group, mode: status.permissions,
                user: effectiveUser())
        }
        return nil
    }

    /// Returns a mode as text, with a leading zero.
    static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(1, 4 - digits.count)) + digits
    }
}
