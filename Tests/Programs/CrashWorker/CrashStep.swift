/// An operation of an app or a widget, on one of the write paths. What it writes contains the number of its step in the
/// plan, so that nothing is written twice.
enum CrashStep: String, CaseIterable {
    /// Writes an item of some bytes, or one of 200 KB in a directory that may have to be made.
    case write
    case writeLarge = "write-large"
    /// Reads a number and adds one.
    case update
    /// Removes an item, or makes it if it is gone.
    case remove
    /// Moves an item, or a directory with two in it, to its other name.
    case move
    case moveDirectory = "move-directory"
    case copy
    /// Writes two items and moves one, all or nothing.
    case transaction
    /// Writes without waiting for the disk; nothing is expected of it but that it does no harm.
    case relaxed
    case set
    case setDurable = "set-durable"
    /// Sets two keys at once, on the disk.
    case setTwo = "set-two"
    /// Fills the suite's segment, so that another one begins, then sets a key.
    case compact
    case compactDurable = "compact-durable"
    case post
    case postDurable = "post-durable"
    /// A listener acknowledges everything, on the disk.
    case acknowledge
    /// Fills the channel's segment, so that another one begins; the listener acknowledges all of that, but not the last
    /// message.
    case compactChannel = "compact-channel"
    /// Fills the journal's segment, so that another one begins; the oldest goes, and a checkpoint is saved.
    case rotate
    /// A widget checks whether there is something new for it, and keeps what it showed.
    case refresh

    /// Whether a power cut takes nothing of it away once its call has returned.
    var isDurable: Bool {
        switch self {
        case .relaxed, .set, .compact, .post, .refresh: false
        default: true
        }
    }
}
