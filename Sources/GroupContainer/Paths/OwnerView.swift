import GroupSystemCalls

/// Through which mapping of users and groups a process sees who owns a file: in a user namespace the same file has
/// another owner, or none that has a number there. What two saw through different mappings says nothing of a change.
enum OwnerView {
    /// This process's: 0 is the machine's own, and any other a number that those of one user namespace share.
    /// System calls, once a process: openat, readlink; in a user namespace also those of reading its maps
    static let own: UInt16 = {
        let files = ["ns/user", "uid_map", "gid_map"]
        guard let process = try? FileDescriptor.open(path: Array("/proc/self".utf8), [.placeOnly, .directory]),
            let namespace = try? process.linkTarget(of: Array(files[0].utf8))
        else { return 0 }
        if namespace.elementsEqual(machine.utf8) { return 0 }
        // The number of a namespace that has ended is given again.
        var content = namespace
        for file in files.dropFirst() {
            content += (try? FileDescriptor.content(of: Array(file.utf8), in: process)) ?? []
        }
        return of(content)
    }()

    /// Never 0.
    static func of(_ mapping: [UInt8]) -> UInt16 {
        UInt16(SipHash(key: (0, 0)).hash(mapping) % UInt64(UInt16.max)) + 1
    }

    /// The kernel's number of the first user namespace, which is always the same (PROC_USER_INIT_INO).
    private static let machine = "user:[4026531837]"
}
