import GroupBytes
import GroupSystemCalls

/// The facts about the container's own files through which its members find each other.
struct PartsFacts: Sendable {
    enum Part: Equatable, Sendable {
        case good
        case missing
        case damaged(String)
        /// The file is of a newer version.
        case newer(String)
        /// The file is of an older version, which this one does not read.
        case older(String)
        /// The file could not be examined.
        case failed(String)
    }

    var format = Part.good
    var lock = Part.good
    var memberTable = Part.good
    /// The table of presenters; missing only where items are presented.
    var presenters = Part.good
    /// The entries that are not of the type that they should have.
    var misplaced: [(item: String, isDirectory: Bool)] = []
    /// Whether any byte of the member table or of the lock file is locked, that is, a process has the container open.
    var isInUse = false
    /// Whether the lock file is not the one that the format file names.
    var isOtherLockFile = false
    /// Whether members live that are not in the present member table.
    var isOtherMemberTable = false
    /// How long a process has been opening the container, in nanoseconds, where that is too long.
    var openingFor: Int64?
    /// The process that is opening the container, where the system shows it.
    var opener: (process: Int32, command: String)?
    /// The directory in which this user may change nothing, although the container's files may be written.
    var closed: Closed?
    /// The reason why the container can only be read; nil where it may be written.
    var readOnlyCause: String?

    var findings: [Finding] {
        let parts = [
            finding(".group/format", format, why: Self.cannotOpen, renewal: formatRenewal), lockFinding,
            otherMemberTable, finding(".group/members", memberTable, why: Self.cannotOpen, renewal: .makingAnew),
            presented,
        ]
        return parts.compactMap(\.self) + misplaced.map(wrongType) + [opening, reading, closing].compactMap(\.self)
    }

    private static let cannotOpen = "no process can open the container"

    /// What a repair does about a damaged part: as a remedy, and as what was done.
    private struct Renewal {
        /// What can be done instead.
        var instead = ""
        var remedy: String
        var done: String

        static let makingAnew = Renewal(remedy: "makes it anew", done: "it was made anew")
    }

    /// Returns the finding about a part of the container that is not good.
    private func finding(_ item: String, _ part: Part, why: String, renewal: Renewal) -> Finding? {
        switch part {
        case .good: nil
        case .failed(let cause):
            // The file may be good, so nothing is made in its place.
            Finding(
                .partDamaged, .error, item: item, "it could not be examined: \(cause)",
                why: "the container cannot be checked, and nothing is repaired",
                remedy: "remove the cause, and try again")
        case .newer(let cause):
            Finding(
                .formatNewer, .error, item: item, cause,
                why: "this version would misunderstand what is in it; nothing was changed",
                remedy: "use a newer version of this program")
        case .older(let cause):
            Finding(
                .formatOlder, .error, item: item, cause,
                why: "nothing below .group can be read; the items are files as before, and nothing was changed",
                remedy: "make a new container, and copy the items into it")
        case .missing: damaged(item, "it is missing", why: why, renewal: renewal)
        case .damaged(let cause): damaged(item, cause, why: why, renewal: renewal)
        }
    }

    /// Reports a damaged part, which is made anew where no process uses it.
    private func damaged(_ item: String, _ cause: String, why: String, renewal: Renewal) -> Finding {
        Finding(
            .partDamaged, .error, item: item, cause, why: why,
            remedy: isInUse
                ? "end its members (they are alive), then \(Finding.repair)"
                : "\(renewal.instead)\(Finding.repair) \(renewal.remedy)", repaired: isInUse ? nil : renewal.done)
    }

    private var formatRenewal: Renewal {
        let isMissing = format == .missing
        return Renewal(
            instead: (isMissing ? "groupctl create completes one that was never finished; else " : "")
                + "put the file back from a backup, with which places in the journal stay valid; or ",
            remedy: "gives the container a new identity, and followers compare everything once",
            done: "the container has a new identity"
                + (isMissing ? "" : "; what was there is .group/format.damaged"))
    }

    private var lockFinding: Finding? {
        let renewal = Renewal(remedy: "makes it anew; followers compare everything once", done: "it was made anew")
        if let found = finding(".group/lock", lock, why: Self.cannotOpen, renewal: renewal) { return found }
        if !isOtherLockFile { return nil }
        if isInUse {
            return Finding(
                .lockFileReplaced, .error, item: ".group/lock", "it was replaced while members are alive",
                why:
                    "locks on the old file do not exclude processes that opened the new one, so no process may open the container now",
                remedy: "end all its members, and open it again")
        }
        return Finding(
            .containerCopied, .note, "it was copied, or restored from a backup, and not opened since",
            why:
                "the first process that opens it gives it an identity of its own; followers with cursors from before compare everything once",
            remedy: "nothing needs to be done", repaired: "it has an identity of its own")
    }

    private var otherMemberTable: Finding? {
        if !isOtherMemberTable { return nil }
        return Finding(
            .memberTableReplaced, .error, item: ".group/members",
            "members are alive, and none of them in this member table: it was replaced",
            why: "these members and new ones neither see nor wake each other, and repair each other's changes",
            remedy: "end all its members (lsof lists the processes that have .group/lock open), and open it again")
    }

    private var presented: Finding? {
        if misplaced.contains(where: { $0.item == PresenterTable.label }) { return nil }
        return finding(
            PresenterTable.label, presenters,
            why: "no item can be presented, and requests for items that are presented end in an error",
            renewal: Renewal(
                remedy: "removes it; it is made anew when an item is presented",
                done: "it was removed, and is made anew when an item is presented"))
    }

    private func wrongType(_ item: String, isDirectory: Bool) -> Finding {
        damaged(
            item, "what stands there is no \(isDirectory ? "directory" : "regular file")",
            why: "each operation that needs it ends in an error",
            renewal: Renewal(
                remedy: "puts it aside, and it is made anew when it is needed",
                done: "it was put aside: \(item).damaged"))
    }

    private var opening: Finding? {
        openingFor.map { time in
            let name = opener.map { "process \($0.process) ('\($0.command)')" } ?? "a process"
            return Finding(
                .openingBlocked, .error, item: ".group/lock", process: opener?.process,
                "\(name) has been opening the container for at least \(RoughTime.text(time))",
                why: "no other process can open it meanwhile",
                remedy: opener.map { "continue or end process \($0.process)" }
                    ?? "find the process that has .group/lock open (lsof), and continue or end it")
        }
    }

    private var reading: Finding? {
        readOnlyCause.map { cause in
            Finding(
                .readOnly, .note, item: ".group", "this process can only read it: \(cause)",
                why:
                    "changes end in notPermitted, and are seen 100 ms later than by members; changes made without coordination only if a member that may write follows",
                remedy: "nothing, if that is meant; else mount it writable, or ask its owner for permission")
        }
    }
}

/// An entry of `.group` that is not of the type that it should have.
struct MisplacedPart {
    /// The directory below `.group`; "." for `.group` itself.
    var directory: String
    var name: [UInt8]
    /// Whether a directory should be there, rather than a regular file.
    var isDirectory: Bool

    var label: String { ".group/" + (directory == "." ? "" : directory + "/") + printable(name) }
}

extension ContainerDirectories {
    /// Returns the misplaced entries that no process can use and none would replace. Linear in the widgets.
    /// System calls: openat2, getdents, statx
    func misplacedParts() -> [MisplacedPart] {
        let directories = ["journal", "defaults", "channels", "widgets"]
        let files = [
            "reserve", "checkpoint", "checkpoint.new", "format.new", "members.new", "presenters", "presenters.new",
        ]
        let top = directories.map { ($0, true) } + files.map { ($0, false) }
        let found = top.compactMap { name, isDirectory in
            misplaced(Array(name.utf8), in: ".", group, isDirectory: isDirectory)
        }
        return found + misplacedParts(ofWidgets: "widgets")
    }

    private func misplacedParts(ofWidgets directory: String) -> [MisplacedPart] {
        guard let widgets = try? existingDirectory(directory) else { return [] }
        var found: [MisplacedPart] = []
        for kind in Self.usedNames(in: widgets) {
            // These names belong to files: requests to open an app.
            if kind.starts(with: "launch.".utf8) { continue }
            if let part = misplaced(kind, in: directory, widgets, isDirectory: true) {
                found.append(part)
                continue
            }
            let path = "\(directory)/\(String(decoding: kind, as: UTF8.self))"
            guard let own = try? existingDirectory(path) else { continue }
            found += Self.usedNames(in: own).compactMap { misplaced($0, in: path, own, isDirectory: false) }
        }
        return found
    }

    /// Returns the names in a directory, without those that were put aside.
    private static func usedNames(in directory: borrowing FileDescriptor) -> [[UInt8]] {
        ((try? directory.entryNames()) ?? []).filter { !$0.suffix(8).elementsEqual(".damaged".utf8) }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func misplaced(
        _ name: [UInt8], in directory: String, _ open: borrowing FileDescriptor, isDirectory: Bool
    ) -> MisplacedPart? {
        guard let status = try? open.status(of: name), isDirectory ? !status.isDirectory : !status.isRegularFile else {
            return nil
        }
        return MisplacedPart(directory: directory, name: name, isDirectory: isDirectory)
    }
}

extension FileDescriptor {
    /// Renames an entry that cannot be used to `NAME.damaged`, and replaces an earlier one of that name.
    func putAside(_ name: [UInt8]) throws(Errno) {
        let aside = name + Array(".damaged".utf8)
        try removeTree(aside)
        try rename(name, to: aside, in: self, replacing: false)
    }
}
