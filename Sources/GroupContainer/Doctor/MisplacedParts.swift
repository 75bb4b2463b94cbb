import GroupSystemCalls

/// Something in `.group` that stands where something of another type should be.
struct MisplacedPart {
    /// Below `.group`; "." for that itself.
    var directory: String
    var name: [UInt8]
    /// What should be there.
    var isDirectory: Bool

    var label: String { ".group/" + (directory == "." ? "" : directory + "/") + printable(name) }
}

extension GroupDirectory {
    /// Those that nobody can use, and that nobody would replace. Linear in the widgets.
    /// System calls: openat2, getdents, statx
    func misplacedParts() -> [MisplacedPart] {
        let directories = ["journal", "defaults", "channels", "widgets"]
        let files = ["reserve", "checkpoint", "checkpoint.new", "format.new", "members.new"]
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
            // The requests to open an app, which are files, begin so.
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

    /// Without what was put aside.
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
    /// Renames an entry that cannot be used to `NAME.damaged`, in place of an earlier such one.
    func putAside(_ name: [UInt8]) throws(Errno) {
        let aside = name + Array(".damaged".utf8)
        try removeTree(aside)
        try rename(name, to: aside, in: self, replacing: false)
    }
}
