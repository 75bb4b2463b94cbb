import Foundation
import Glibc

/// Where the build put this package's executables: beside the tests' own.
package enum BuildDirectory {
    package static let path: String = {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (executable as NSString).deletingLastPathComponent
    }()

    /// The commands that users install: one that was not built is missing, whatever is in PATH.
    private static let commands: Set = [
        "groupctl", "watch-group", "widget-host", "group-share", "group-transfer", "group-cluster", "widget-window",
    ]

    /// Returns the path of an executable of this package; any other program keeps its name, to be looked up in PATH.
    package static func resolve(_ program: String) -> String {
        let ours = "\(path)/\(program)"
        return unsafe access(ours, X_OK) == 0 || commands.contains(program) ? ours : program
    }
}

/// Whether the tests run as root: only root can arrange some faults.
package let isRoot = geteuid() == 0

/// Whether the long tests were requested.
package let runsLongTests =
    ProcessInfo.processInfo.environment["GROUP_CONTAINER_LONG_TESTS"].map { !$0.isEmpty } ?? false

/// More than any wait of a test that passes takes, so that a test that does not pass ends. Under a sanitizer everything
/// takes longer.
package let patience = Duration.seconds(environmentNumber("GROUP_CONTAINER_PATIENCE") ?? 60)
