import TestSupport

/// Whether a command can run as another user than root, and that user can reach the built programs, which is not so if
/// the clone is in root's home. A shell checks, since setpriv(1) has root's capabilities when it finds the program.
let canPlayNobody =
    isRoot
    && succeeds(["setpriv"] + nobody() + ["sh", "-c", "exec \"$0\" --version", BuildDirectory.resolve("groupctl")])

/// The arguments of setpriv(1).
func nobody(groups: String? = nil) -> [String] {
    ["--reuid", "65534", "--regid", "65534"] + (groups.map { ["--groups", $0] } ?? ["--clear-groups"])
}
