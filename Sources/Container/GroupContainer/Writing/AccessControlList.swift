// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// A POSIX access control list, as Linux encodes it in an extended attribute (`linux/posix_acl_xattr.h`): version 2,
/// then for each entry a tag, its permissions (4 reading, 2 writing, 1 executing), and a user or group.
struct AccessControlList: Equatable {
    enum Tag: UInt16 {
        case owner = 1
        case user = 2
        case owningGroup = 4
        case group = 8
        /// The upper limit of the permissions of users, the owning group and groups.
        case mask = 16
        case others = 32
    }

    struct Entry: Equatable {
        var tag: Tag
        var permissions: UInt16
        var identifier: UInt32 = .max
    }

    var entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.number(UInt32.self) == 2 else { return nil }
            entries = []
            while reader.remaining > 0 {
                guard let tag = Tag(rawValue: try reader.number()) else { return nil }
                entries.append(Entry(tag: tag, permissions: try reader.number(), identifier: try reader.number()))
            }
        } catch {
            return nil
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt32(2))
        for entry in entries {
            writer.write(entry.tag.rawValue)
            writer.write(entry.permissions)
            writer.write(entry.identifier)
        }
        return writer.bytes
    }

    /// The mode of a file with this list; the mask is the middle digit.
    var permissions: UInt32 { digits(middle: permissions(of: .mask) ?? permissions(of: .owningGroup)) }

    /// A mode that grants no user more than this list does, for a file that cannot have the list itself.
    var permissionsWithoutList: UInt32 {
        digits(middle: (permissions(of: .owningGroup) ?? 0) & (permissions(of: .mask) ?? 7))
    }

    private func digits(middle: UInt16?) -> UInt32 {
        UInt32(permissions(of: .owner) ?? 0) << 6 | UInt32(middle ?? 0) << 3 | UInt32(permissions(of: .others) ?? 0)
    }

    private func permissions(of tag: Tag) -> UInt16? { entries.first { $0.tag == tag }.map { $0.permissions & 7 } }

    /// Returns the list of a file that is made with this mode in a directory whose default list this is; the umask has
    /// no effect then. The algorithm is that of `posix_acl_create_masq` in Linux.
    func limited(to mode: UInt32) -> Self {
        let middle: Tag = permissions(of: .mask) == nil ? .owningGroup : .mask
        return mapped { entry in
            switch entry.tag {
            case .owner: entry.permissions & UInt16(mode >> 6 & 7)
            case middle: entry.permissions & UInt16(mode >> 3 & 7)
            case .others: entry.permissions & UInt16(mode & 7)
            default: entry.permissions
            }
        }
    }

    /// Returns the list for a file that could not get the intended group: its actual group gets the permissions of
    /// others.
    func withholdingFromOwningGroup() -> Self {
        mapped { $0.tag == .owningGroup ? permissions(of: .others) ?? 0 : $0.permissions }
    }

    private func mapped(_ permissions: (Entry) -> UInt16) -> Self {
        Self(entries.map { Entry(tag: $0.tag, permissions: permissions($0), identifier: $0.identifier) })
    }
}
