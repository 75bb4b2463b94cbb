import GroupCluster
import GroupSystemCalls

extension LocalDisk {
    /// The attributes that show, without reading it, that a file still has the content that was read.
    struct Mark: Equatable {
        var inode: UInt64
        var size: UInt64
        var modified: Int64
        var changed: Int64

        init(_ status: FileStatus) {
            (inode, size, modified, changed) = (status.inode, status.size, status.modified, status.changed)
        }

        /// Returns the mark of a file or directory that is about to be read.
        ///
        /// The kernel's dates have ticks of up to 10 ms, so a change soon after the last one may leave the dates as
        /// they are. While the dates are that new, the mark matches no file, and the next look reads the file again.
        static func beforeReading(_ status: FileStatus) -> Mark {
            var mark = Mark(status)
            if !status.isLink, (wallNanoseconds() &- mark.changed).magnitude < 50_000_000 { mark.changed = -1 }
            return mark
        }

        init(_ stored: StoredLocal) {
            inode = stored.inode
            size = stored.size
            modified = stored.modified
            changed = stored.changed
        }

        /// The mark of a file that was made and not looked at since; no file matches it.
        static let unknown = Mark(inode: 0, size: 0, modified: 0, changed: 0)

        init(inode: UInt64, size: UInt64, modified: Int64, changed: Int64) {
            (self.inode, self.size, self.modified, self.changed) = (inode, size, modified, changed)
        }
    }

    /// Returns whether an error means that an item was removed or moved meanwhile, also out of the container or behind
    /// a symbolic link.
    static func isGone(_ error: Errno) -> Bool {
        [.noSuchEntry, .notADirectory, .tooManyLinks, .crossesDevices].contains(error)
    }

    static func mode(_ status: FileStatus, _ kind: ItemContent.Kind) -> UInt16 {
        switch kind {
        case .file: UInt16(status.permissions & 0o777)
        case .directory: 0o755
        case .link: 0o777
        }
    }
}
