/// Whether a change survives a power cut once its call has returned.
public enum Durability: Sendable {
    /// The content, the directory entry and the journal's record are on the disk. The default.
    case durable
    /// The change is atomic and visible at once, but the kernel chooses when to write it to the disk. After a power cut
    /// it is whole or absent only where the file system guarantees that order. For data that can be made again.
    case relaxed
}
