import GroupSystemCalls

/// The process that is opening a container, where the system says which.
struct Opener: CustomStringConvertible {
    let process: Int32
    let view: ProcessView

    /// Nil where /proc is of another PID namespace, or shows nothing of it. Linear in the files that are open.
    init?(ofLockFile inode: UInt64) {
        guard ProcessTable().isOwnProc, let process = OpenFiles.holderOfFirstByte(ofInode: inode),
            let view = ProcessView(of: process)
        else { return nil }
        (self.process, self.view) = (process, view)
    }

    var command: String { printable(view.command) }

    var description: String {
        let text = command.count > 60 ? command.prefix(59) + "…" : command[...]
        return "process \(process) (" + (view.condition == .stopped ? "stopped, " : "") + "'\(text)')"
    }

    var advice: String {
        view.condition == .stopped
            ? "continue it: kill -CONT \(process); or end it" : "end process \(process), and try again"
    }
}
