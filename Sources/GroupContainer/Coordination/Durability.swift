/// Whether a change survives a power cut once its call has returned.
public enum Durability: Sendable {
    /// The content, the directory entry and the journal's record are on the disk. The default.
    case durable
    /// Atomic and visible at once, but written to the disk when the kernel likes; whole or not at all after a power cut
    /// only where the file system orders so. For what can be made again.
    case relaxed
}
