/// What is known of the place where a container should be.
struct PlaceFacts: Equatable, Sendable {
    enum Standing: Equatable, Sendable {
        /// `.group` could be opened.
        case container
        /// The first directory on the way that is not there.
        case missing(String)
        /// A directory, without `.group` in it.
        case plainDirectory
        /// The rest of a container.
        case halfDeleted
        /// What should be the directory for staging is missing, or something else; which.
        case noStaging(String)
        /// This user may not enter it.
        case forbidden(Barrier)
        /// Its file system cannot do what is needed; which.
        case unsupported(String)
        case failed(String)
    }

    /// What keeps this user out.
    struct Barrier: Equatable, Sendable {
        var path: String
        var owner: UInt32
        var group: UInt32
        var mode: UInt32
        var user: UInt32

        /// Whether members of its group may enter it.
        var isForGroup: Bool { mode & 0o050 == 0o050 }
    }

    /// As the user named it.
    var name: String
    var path: String
    /// The variable that decided where it is looked for; nil where it was named by its path.
    var variable: String?
    /// Where else a container of that identifier stands.
    var elsewhere: [String] = []
    /// Containers with nearly that identifier.
    var similar: [String] = []
    var standing: Standing

    var findings: [Finding] {
        switch standing {
        case .container: []
        case .missing(let directory):
            [
                missing(
                    directory == path
                        ? "there is no container at \(path)"
                        : "there is no container at \(path): \(directory) is missing")
            ]
        case .plainDirectory: [missing("\(path) is a directory, but no container: it has no .group in it")]
        case .halfDeleted:
            [
                Finding(
                    .deletionInterrupted, .error, item: path, "a deletion of the container was interrupted",
                    why: "what is left of it is of no use, and nothing can be made in its place",
                    remedy: "finish it: groupctl delete-group --yes \(name)")
            ]
        case .noStaging(let cause):
            [
                Finding(
                    .stagingMissing, .error, item: ".group/staging", cause,
                    why: "nothing can be written: what is new is made there first",
                    remedy: "\(Finding.repair) makes it", mended: "the directory was made")
            ]
        case .forbidden(let barrier):
            [
                Finding(
                    .notPermitted, .error, item: barrier.path,
                    "user \(barrier.user) may not enter it: it has mode \(Self.octal(barrier.mode)), of user \(barrier.owner) and group \(barrier.group)",
                    why: "nothing of the container can be read or followed",
                    remedy: barrier.isForGroup
                        ? "have user \(barrier.user) put into group \(barrier.group), and log in anew"
                        : "ask user \(barrier.owner), who can share what they make with 'groupctl create --unix-group'"
                )
            ]
        case .unsupported(let cause):
            [
                Finding(
                    .fileSystemUnsupported, .error, item: path, cause,
                    why: "members could not see each other: locks would exclude nobody, and changes would not arrive",
                    remedy: "put it on a local file system: ext4, xfs, btrfs, tmpfs")
            ]
        case .failed(let cause):
            [
                Finding(
                    .partDamaged, .error, item: path, cause, why: "the container cannot be opened",
                    remedy: "put back what stood there")
            ]
        }
    }

    private func missing(_ what: String) -> Finding {
        var detail = what
        if let variable { detail += "; '\(name)' is looked for there because of \(variable)" }
        let remedy: String =
            if !elsewhere.isEmpty {
                "one of that name stands at \(elsewhere.joined(separator: " and at ")): name it by that path, or set GROUP_CONTAINERS_HOME to the same for all processes"
            } else if !similar.isEmpty {
                "there is \(similar.joined(separator: ", ")); or make it with 'groupctl create'"
            } else {
                "check the name: every process must use the same; or make it with 'groupctl create'"
            }
        return Finding(
            .containerMissing, .error, item: path, detail,
            why: "a process that uses another name or path shares another container, and nothing of it arrives here",
            remedy: remedy)
    }

    static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}
