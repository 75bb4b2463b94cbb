/// One thing that an app or a widget does, on one of the write paths. What it writes says which step of the plan it
/// was, so that nothing is written twice.
enum CrashStep: String, CaseIterable {
    /// An item of some bytes, and one of 200 KB in a directory that may have to be made.
    case write
    case writeLarge = "write-large"
    /// Reads a number and adds one.
    case update
    /// Removes an item, or makes it where it is gone.
    case remove
    /// An item, or a directory with two in it, to its other name.
    case move
    case moveDirectory = "move-directory"
    case copy
    /// Two items are written and one is moved, all or nothing.
    case transaction
    /// Not asked to be on the disk; nothing is expected of it but that it harms nobody.
    case relaxed
    case set
    case setDurable = "set-durable"
    /// Two keys at once, on the disk.
    case setTwo = "set-two"
    /// Fills the suite's file, so that another one begins, then sets a key.
    case compact
    case compactDurable = "compact-durable"
    case post
    case postDurable = "post-durable"
    /// A listener is done with everything, on the disk.
    case acknowledge
    /// Fills the channel's file, so that another one begins; the listener is done with that, but not with the last one.
    case compactChannel = "compact-channel"
    /// Fills the journal's file, so that another one begins; the oldest goes, and a checkpoint is saved.
    case rotate
    /// A widget looks whether there is something new for it, and keeps what it showed.
    case refresh

    /// When its call has returned, a power cut takes nothing of it away.
    var isDurable: Bool {
        switch self {
        case .relaxed, .set, .compact, .post, .refresh: false
        default: true
        }
    }
}
