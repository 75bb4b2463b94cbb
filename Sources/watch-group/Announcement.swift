import GroupCommandLine
import GroupCommands
import GroupContainer

/// The line that --verbose is for: from here on every change is seen when it happens. Said once, when there is a leader
/// that watches every directory.
struct Announcement {
    /// Until the next look; nil once it was said.
    private(set) var patience: Duration? = .milliseconds(1)

    /// It has not been said yet, and is true now.
    mutating func isDue(_ container: Container) -> Bool {
        guard let patience else { return false }
        self.patience = min(patience * 2, .milliseconds(10))
        return container.isReadOnly || container.awaitLeader(timeout: .zero)
    }

    mutating func say(at place: Cursor, _ run: borrowing CommandRun) {
        patience = nil
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(place)")
    }
}
