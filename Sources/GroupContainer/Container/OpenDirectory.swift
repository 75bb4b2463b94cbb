import GroupSystemCalls

/// A directory that stays open for as long as somebody refers to it.
final class OpenDirectory: Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

extension Member {
    /// The directory at a location; for nil the root, which is open already.
    func directory(at location: ItemLocation?) throws(Errno) -> OpenDirectory {
        guard location != nil else { return directory.rootDirectory }
        return OpenDirectory(try openDirectory(location))
    }
}
