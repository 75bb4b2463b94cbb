import GroupSystemCalls
import TestSupport

@testable import GroupContainer

/// Directories in which the tests of attributes run: in memory and on the disk.
let attributeSurroundings = TestFiles.kinds

let accessListName = Array("system.posix_acl_access".utf8)
let defaultListName = Array("system.posix_acl_default".utf8)

/// The list that `setfacl -m u:65534:rw,g:60:r` makes.
let sampleList = AccessControlList([
    AccessControlList.Entry(tag: .owner, permissions: 7),
    AccessControlList.Entry(tag: .user, permissions: 6, identifier: 65_534),
    AccessControlList.Entry(tag: .owningGroup, permissions: 5),
    AccessControlList.Entry(tag: .group, permissions: 4, identifier: 60),
    AccessControlList.Entry(tag: .mask, permissions: 7),
    AccessControlList.Entry(tag: .others, permissions: 0),
])

/// An item's mode, owner, group and extended attributes.
struct Attributes: Equatable {
    var mode: UInt32
    var owner: UInt32
    var group: UInt32
    var extended: [[UInt8]: [UInt8]]

    init(_ name: String, in temporary: TemporaryDirectory) throws {
        let file = try temporary.open(name, [.pathOnly, .notFollowing])
        let status = try file.status()
        mode = status.mode
        owner = status.owner
        group = status.group
        extended = [:]
        for name in try file.attributeNames() { extended[name] = try file.attribute(name) }
    }
}

extension TemporaryDirectory {
    /// Returns false if the file system has no attributes of that kind.
    func setAttribute(_ name: [UInt8], to value: [UInt8], of item: String) throws -> Bool {
        do {
            try open(item, .reading).setAttribute(name, to: value)
            return true
        } catch {
            if error as? Errno == .notSupported { return false }
            throw error
        }
    }
}
