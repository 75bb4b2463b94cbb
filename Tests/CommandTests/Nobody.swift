import Foundation
import TestSupport

/// Whether another user than root can be played, and reach what we built.
let canPlayNobody: Bool = {
    guard isRoot else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["setpriv"] + nobody() + [BuildFolder.resolve("groupctl"), "--version"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}()

/// What setpriv(1) is told.
func nobody(groups: String? = nil) -> [String] {
    ["--reuid", "65534", "--regid", "65534"] + (groups.map { ["--groups", $0] } ?? ["--clear-groups"])
}
