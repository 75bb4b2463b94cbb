import TestSupport

/// Whether another user than root can be played, and reach what we built: not where the clone lies in root's home.
/// Asked through a shell, since setpriv(1) itself still has root's capabilities when it looks for the program.
let canPlayNobody =
    isRoot
    && succeeds(["setpriv"] + nobody() + ["sh", "-c", "exec \"$0\" --version", BuildDirectory.resolve("groupctl")])

/// What setpriv(1) is told.
func nobody(groups: String? = nil) -> [String] {
    ["--reuid", "65534", "--regid", "65534"] + (groups.map { ["--groups", $0] } ?? ["--clear-groups"])
}
