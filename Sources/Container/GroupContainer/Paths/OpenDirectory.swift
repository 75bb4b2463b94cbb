import GroupSystemCalls

/// A directory that stays open for as long as there is a reference to it.
final class OpenDirectory: Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

extension ItemState {
    init(_ status: FileStatus, contentHash: UInt64?) {
        let type: ItemType =
            status.isRegularFile ? .file : status.isDirectory ? .directory : status.isLink ? .symbolicLink : .other
        self.init(
            type: type, inode: status.inode, size: status.size, modified: status.modified, changed: status.changed,
            mode: status.permissions, owner: status.owner, group: status.group, contentHash: contentHash,
            view: OwnerView.own)
    }
}
