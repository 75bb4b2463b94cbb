/// What is known of the log of a suite or of a channel.
struct StoreFacts: Equatable, Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case suite, channel

        /// Where it is kept.
        var directory: String { self == .suite ? "defaults" : "channels" }
    }

    struct File: Equatable, Sendable {
        var name: String
        /// What stands in the newest one is all that counts; the others are for who is slow.
        var isNewest: Bool
        /// What is wrong with it, the first first.
        var causes: [String] = []
        /// At how many places something could not be read.
        var lost = 0
        /// It ends in a record that was not finished.
        var isTorn = false
        var isPoisoned = false
        /// Of a newer version: why.
        var newer: String?
        /// It could not be looked at: why.
        var failed: String?
    }

    var kind: Kind
    var name: String
    var files: [File] = []
    /// Files that a gap separates from the newest one: on their way out, when somebody died.
    var separated: [String] = []
    /// Nobody else has the container open, so nobody else writes to it.
    var isAlone = true

    var label: String { ".group/\(kind.directory)/\(name)" }

    var findings: [Finding] {
        if files.isEmpty { return [missing] }
        return files.flatMap { file in
            [damage(of: file), torn(file), undurable(file), strange(file)].compactMap(\.self)
        } + separated.map(leftover)
    }

    private func damage(of file: File) -> Finding? {
        guard let first = file.causes.first else { return nil }
        let rest = file.causes.count - 1
        let what = first + (rest == 0 ? "" : ", and \(rest == 1 ? "one place" : "\(rest) places") more")
        let code: Finding.Code = kind == .suite ? .suiteDamaged : .channelDamaged
        if !file.isNewest {
            return Finding(
                code, .warning, item: file.name, what,
                why: "the file after it says what it came to; who follows slowly and comes to it compares everything",
                remedy: remedy("drops it"), mended: isAlone ? "it was dropped" : nil)
        }
        let isLoss = file.lost > 0
        return Finding(
            code, .error, item: file.name, what,
            why: kind == .suite
                ? "what was set there is not seen, or the suite cannot be used at all"
                : "messages and acknowledgements that stood there are not seen, or the channel cannot be used at all",
            remedy: remedy("begins a new file with everything that can be read") + "; look after the disk, too",
            mended: isAlone
                ? "a new file begins with everything that could be read"
                    + (isLoss ? loss(at: file.lost) : ", and nothing is lost") : nil)
    }

    private func loss(at places: Int) -> String {
        let count = places == 1 ? "one place" : "\(places) places"
        return kind == .suite
            ? "; what was set at \(count) is lost, and has the values from before"
            : "; what stood at \(count) is lost, which listeners are told; messages behind that may come to them again"
    }

    private func remedy(_ what: String) -> String {
        isAlone
            ? "\(Finding.repair) \(what)"
            : "end the container's members (groupctl status names them), then \(Finding.repair) \(what)"
    }

    /// As long as somebody lives, it may be just being written.
    private func torn(_ file: File) -> Finding? {
        guard file.isTorn, file.isNewest, isAlone else { return nil }
        return Finding(
            .logTorn, .note, item: file.name, "it ends in a record that was not finished",
            why: "its writer died, or the machine did; the next writer ends the log there",
            remedy: "nothing needs to be done", mended: "it ends before that")
    }

    private func undurable(_ file: File) -> Finding? {
        guard file.isPoisoned, file.isNewest, file.newer == nil else { return nil }
        return Finding(
            .logNotDurable, .error, item: file.name, "the disk refused to keep it (fdatasync failed)",
            why: "nothing in it is durable until the disk takes it again",
            remedy: remedy("writes everything into a new file") + "; look after the disk: dmesg, smartctl",
            mended: isAlone ? "everything was written into a new file, which the disk has kept" : nil)
    }

    private func strange(_ file: File) -> Finding? {
        if let newer = file.newer {
            return Finding(
                .formatNewer, .error, item: file.name, newer,
                why: "this version would misunderstand what is in it; nothing was changed",
                remedy: "use a newer version of this program")
        }
        return file.failed.map { cause in
            Finding(
                .partDamaged, .error, item: file.name, cause, why: "the \(kind.rawValue) cannot be used",
                remedy: "look after its permissions, and after the disk")
        }
    }

    private func leftover(_ file: String) -> Finding {
        Finding(
            .leftovers, .note, item: file, "the file that follows it is gone, so nobody reads it",
            why: "it only takes room", remedy: remedy("removes it"), mended: isAlone ? "it was removed" : nil)
    }

    private var missing: Finding {
        Finding(
            .logMissing, .note, item: label, "it has no file",
            why:
                "it was never begun, or its files were removed; the next writer of the \(kind.rawValue) begins anew",
            remedy: isAlone
                ? "if there were any, put its files back from a backup; else \(Finding.repair) removes the directory"
                : "if there were any, put its files back from a backup", mended: isAlone ? "it was removed" : nil)
    }
}

/// What is known of the directories that suites and channels lie in.
struct StoresFacts: Sendable {
    struct Permission: Equatable, Sendable {
        var item: String
        /// What it is, and what it should be.
        var what: String
    }

    var stores: [StoreFacts] = []
    /// Entries that are nobody's.
    var strange: [String] = []
    var permissions: [Permission] = []
    /// Of directories that could not be looked at: why.
    var failed: [(item: String, cause: String)] = []

    var findings: [Finding] {
        stores.flatMap(\.findings)
            + permissions.map { permission in
                Finding(
                    .permissionsWrong, .warning, item: permission.item, permission.what,
                    why: "members of other users, or of the container's Unix group, cannot use it",
                    remedy: "\(Finding.repair), as its owner or as root", mended: "it has what the others have")
            }
            + strange.map { item in
                Finding(
                    .strangeName, .note, item: item, "nothing of that name belongs here",
                    why: "nobody reads it", remedy: "look where it comes from; remove it, if nobody needs it")
            }
            + failed.map { item, cause in
                Finding(
                    .partDamaged, .error, item: item, cause, why: "what is in it cannot be used",
                    remedy: "look after its permissions, and after the disk")
            }
    }
}
