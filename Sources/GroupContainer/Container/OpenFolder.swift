import GroupSystemCalls

/// A folder that stays open for as long as somebody refers to it.
final class OpenFolder: Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

extension Member {
    /// The folder at a location; for nil the root, which is open already.
    func folder(at location: ItemLocation?) throws(Errno) -> OpenFolder {
        guard location != nil else { return folder.rootFolder }
        return OpenFolder(try openFolder(location))
    }
}
