import Foundation

/// Another clock for a program, by libfaketime.
package enum FakedClock {
    /// The path of the library; nil where it is not installed.
    private static let library = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
        .first(where: FileManager.default.fileExists)

    package static var isThere: Bool { library != nil }

    /// The variables of a program whose clock is as far from the machine's as `offset` says: `+20m`.
    package static func variables(_ offset: String) -> [String] {
        ["LD_PRELOAD=\(library ?? "")", "FAKETIME=\(offset)", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
    }

    /// Removes what the library has made for a process that has ended.
    package static func removeTraces(of process: Int32) {
        for name in ["faketime_shm_\(process)", "sem.faketime_sem_\(process)"] {
            try? FileManager.default.removeItem(atPath: "/dev/shm/\(name)")
        }
    }
}
