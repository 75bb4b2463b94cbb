import TestSupport

/// Whether another user than root can be played, and reach what we built.
let canPlayNobody =
    isRoot && succeeds(["setpriv"] + nobody() + [BuildFolder.resolve("groupctl"), "--version"])

/// What setpriv(1) is told.
func nobody(groups: String? = nil) -> [String] {
    ["--reuid", "65534", "--regid", "65534"] + (groups.map { ["--groups", $0] } ?? ["--clear-groups"])
}
