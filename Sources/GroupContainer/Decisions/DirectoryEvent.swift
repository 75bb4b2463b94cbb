/// What the kernel says happened in a watched directory.
struct DirectoryEvent: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// Its content was written, or closed by one who could write.
        case content
        /// Mode, owner, dates, links.
        case attributes
        case created
        case removed
        /// The entry was renamed away; the `arrived` with the same number is where it went.
        case left(UInt32)
        case arrived(UInt32)
        /// The watch's last event.
        case ended
    }

    var watch: Int32
    var kind: Kind
    /// The entry is a directory.
    var isDirectory: Bool
    /// The entry's name.
    var name: [UInt8]
}
