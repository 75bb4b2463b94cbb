import GroupBytes
import GroupSystemCalls

/// The mapping of users and groups through which a process reads the owner of a file: in a user namespace the same file
/// has another owner, or one without a number there. A difference between states that were read through different
/// mappings does not show a change.
enum OwnerView {
    /// This process's mapping: 0 is the machine's own (also if `/proc` cannot be read), any other a number that the
    /// processes of one user namespace share. System calls, once per process: openat, readlink; in a user namespace
    /// also those of reading its maps
    static let own: UInt16 = {
        let files = ["ns/user", "uid_map", "gid_map"]
        guard let process = try? FileDescriptor.open(path: Array("/proc/self".utf8), [.pathOnly, .directory]),
            let namespace = try? process.linkTarget(of: Array(files[0].utf8))
        else { return 0 }
        if namespace.elementsEqual(machine.utf8) { return 0 }
        // The kernel reuses the number of a namespace that has ended, so the maps are hashed, too.
        var content = namespace
        for file in files.dropFirst() {
            content += (try? FileDescriptor.content(of: Array(file.utf8), in: process)) ?? []
        }
        return of(content)
    }()

    /// Returns the number of a mapping; never 0.
    static func of(_ mapping: [UInt8]) -> UInt16 {
        UInt16(SipHash(key: (0, 0)).hash(mapping) % UInt64(UInt16.max)) + 1
    }

    /// The name of the first user namespace, whose number is always the same (PROC_USER_INIT_INO).
    private static let machine = "user:[4026531837]"
}
