import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// The line "watching GROUP at CURSOR" of --verbose: from here on every change is seen when it happens. Printed once,
/// when a leader watches every directory, or at once for a read-only container.
struct Announcement {
    /// The time until the next check; nil once the line was printed.
    private(set) var patience: Duration? = .milliseconds(1)

    /// Returns true if the line has not been printed yet and is true now.
    mutating func isDue(_ container: Container) -> Bool {
        guard let patience else { return false }
        self.patience = min(patience * 2, .milliseconds(10))
        return container.isReadOnly || container.awaitLeader(timeout: .zero)
    }

    mutating func print(at cursor: Cursor, _ run: borrowing CommandRun) {
        patience = nil
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(cursor)")
    }
}
