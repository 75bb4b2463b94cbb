import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// Changes of the disk by what the cluster has. Each is made under the item's lock, and only as far as the disk still is what
/// the step was planned for; what else stood there is never lost.
extension Machine {
    /// How long a step waits for an item that is in use, or presented, before the others go on.
    private static let patience = Duration.milliseconds(100)
    private static let deferral: Int64 = 300_000_000

    func perform(_ step: MirrorStep, durability: Durability) throws {
        let item = self.item(of: step)
        do {
            switch step {
            case .create(let item, let parent, let name, let content):
                try create(item, in: parent, name, content, durability)
            case .rename(let local, let parent, let name): try rename(local, to: parent, name, durability)
            case .exchange(let local, let expected, let new, let aside):
                try exchange(local, expected: expected, new: new, aside: aside, durability)
            case .remove(let local, let expected): try remove(local, expected: expected, durability)
            }
        } catch let error as CoordinationError {
            switch error.code {
            case .conflict, .notFound, .notEmpty, .wrongType, .outsideContainer:
                // The disk is not what it was seen to be. A directory may have something in it that is never mirrored.
                let places = try lookAgain(step)
                let isInTheWay = error.code == .notEmpty || places.contains { disk.isUnmirrored($0) }
                let pause: Int64 = isInTheWay ? 1_000_000_000 : 20_000_000
                guard let item else { return }
                deferred[item] = monotonicNanoseconds() + pause
                if isInTheWay { passed.insert(item) }
                if error.code == .notEmpty, case .remove(let local, _) = step {
                    // Unless its other items are just on their way, they are of a kind that is not mirrored.
                    refused[disk.path(of: local)] =
                        "it was removed on another machine, and has items that are not mirrored"
                }
            case .lockTimedOut, .presenterUnresponsive, .presenterFailed, .deadlock, .unfinished:
                if let item {
                    deferred[item] = monotonicNanoseconds() + Self.deferral
                    passed.insert(item)
                }
            default:
                // No room, no permission, another file system: the rest goes on.
                status.failure = "\(error)"
                try lookAgain(step)
                if let item {
                    deferred[item] = monotonicNanoseconds() + 2_000_000_000
                    passed.insert(item)
                }
            }
        }
    }

    /// The item that a step brings nearer to the cluster's tree: what is deferred if it cannot be made.
    private func item(of step: MirrorStep) -> ItemName? {
        switch step {
        case .create(let item, _, _, _): item
        case .rename(let local, _, _), .exchange(let local, _, _, _), .remove(let local, _):
            mirror.items[local] ?? mirror.firstStale
        }
    }

    /// Looks at the places of a step, and returns them.
    @discardableResult
    private func lookAgain(_ step: MirrorStep) throws -> [[UInt8]] {
        let places: [[UInt8]] =
            switch step {
            case .create(_, let parent, let name, _): [disk.path(name, in: parent)]
            case .rename(let local, let parent, let name): [disk.path(of: local), disk.path(name, in: parent)]
            case .exchange(let local, _, _, let aside):
                [disk.path(of: local), disk.path(aside, in: disk.tree[local]?.parent ?? .root)]
            case .remove(let local, _): [disk.path(of: local)]
            }
        for place in places { try disk.look(at: place) }
        disk.endRound()
        return places
    }

    /// Returns who made a change, as the container's records have it; `cluster` for what was not folded since the program
    /// was started.
    func purpose(_ author: [UInt8]?) -> String {
        guard let author, !author.isEmpty else { return "cluster" }
        return printable(author)
    }

    private func purpose(of item: ItemName?) -> String { purpose(item.flatMap { authors[$0] }) }

    private func coordinator(_ item: ItemName?) -> BlockingCoordinator {
        container.coordinator(purpose: purpose(of: item)).blocking
    }

    // MARK: Steps

    private func create(
        _ item: ItemName, in parent: LocalItem, _ name: FileName, _ content: ItemContent, _ durability: Durability
    ) throws {
        let path = ItemPath(bytes: disk.path(name, in: parent))
        switch content.kind {
        case .directory:
            try coordinator(item).createDirectory(path, durability: durability, timeout: Self.patience)
        case .file, .link:
            guard let file = try file(with: content, for: item) else { return }
            defer { contents.remove(file) }
            _ = try contents.place.exchange(
                file, at: path, replacing: false, mode: content.kind == .file ? UInt32(content.mode) : nil,
                purpose: purpose(of: item), durability: durability, timeout: Self.patience)
        }
        let local = disk.newItem()
        disk.putMade(local, LocalTree.Node(parent, name, content))
        mirror.made(.create(item, in: parent, name, content), by: local, in: fold.tree)
        // Another machine may have given the name to what came out of an exchange.
        if name.contains(Array("(conflict ".utf8)) { note(conflict: disk.path(name, in: parent)) }
    }

    private func rename(_ local: LocalItem, to parent: LocalItem, _ name: FileName, _ durability: Durability) throws {
        guard let node = disk.tree[local] else { return }
        try coordinator(mirror.items[local]).move(
            ItemPath(bytes: disk.path(of: local)), to: ItemPath(bytes: disk.path(name, in: parent)),
            durability: durability, timeout: Self.patience)
        disk.put(local, LocalTree.Node(parent, name, node.content))
        // The old name of a copy is forgotten.
        if name.contains(Array("(conflict ".utf8)) { note(conflict: disk.path(name, in: parent)) }
        mirror.made(.rename(local, to: parent, name), by: nil, in: fold.tree)
    }

    private func exchange(
        _ local: LocalItem, expected: ItemContent, new: ItemContent, aside: FileName, _ durability: Durability
    ) throws {
        guard let node = disk.tree[local], let item = mirror.items[local] else { return }
        let path = ItemPath(bytes: disk.path(of: local))
        if new.kind == .file, node.content.digest == new.digest, node.content.kind == .file {
            try coordinator(item).setMode(
                UInt32(new.mode), of: path, durability: durability, timeout: Self.patience)
        } else {
            guard let staged = try file(with: new, for: item) else { return }
            let file = try contents.readyForExchange(staged)
            let taken = Taken(
                path: disk.path(of: local), aside: disk.path(aside, in: node.parent), expected: [expected, new])
            try begin(taken, file)
            // An error may come after the exchange.
            do {
                _ = try contents.place.exchange(
                    file, at: path, replacing: true, mode: new.kind == .file ? UInt32(new.mode) : nil,
                    purpose: purpose(of: item), durability: durability, timeout: Self.patience)
            } catch {
                try finish(taken, file)
                throw error
            }
            try finish(taken, file)
        }
        disk.putMade(local, LocalTree.Node(node.parent, node.name, new))
        mirror.made(.exchange(local, expected: expected, new: new, aside: aside), by: nil, in: fold.tree)
    }

    private func remove(_ local: LocalItem, expected: ItemContent, _ durability: Durability) throws {
        let item = mirror.items[local]
        let path = disk.path(of: local)
        if expected.kind == .directory {
            try coordinator(item).remove(
                ItemPath(bytes: path), durability: durability, timeout: Self.patience)
        } else {
            let file = contents.outName()
            let taken = Taken(path: path, aside: path, expected: [expected])
            try begin(taken, file)
            do {
                _ = try contents.place.takeOut(
                    ItemPath(bytes: path), to: file, purpose: purpose(of: item), durability: durability,
                    timeout: Self.patience)
            } catch {
                try finish(taken, file)
                throw error
            }
            try finish(taken, file)
        }
        // What came back is an item of its own, which the journal reports.
        refused[path] = nil
        disk.forget(local)
        mirror.made(.remove(local, expected: expected), by: nil, in: fold.tree)
        try disk.look(at: path)
    }

    func note(conflict copy: [UInt8]) {
        if status.conflicts.contains(where: { $0.copy == printable(copy) }) { return }
        log("conflict: '\(printable(copy))'")
        status.conflicts.append(.init(copy, foundAt: Date()))
        if status.conflicts.count > 1_000 { status.conflicts.removeFirst() }
        let encoded = try? Array(JSONEncoder().encode(status.conflicts))
        try? store.store { try $0.set("conflicts", encoded) }
    }

    /// Forgets the conflicts whose item a person has removed or renamed: it is neither here nor in the cluster.
    func forgetConflicts() {
        status.conflicts.removeAll { conflict in
            let path = Array(conflict.path)
            return disk.item(at: path) == nil && fold.tree.item(at: path) == nil
        }
    }

    // MARK: Contents

    /// Returns a file of the directory of contents that is to become an item; nil where the content is not here yet.
    private func file(with content: ItemContent, for item: ItemName) throws -> [UInt8]? {
        if content.kind == .link { return try contents.link(to: content.digest) }
        if contents.size(of: content.digest) != nil { return try contents.copy(content.digest) }
        // Nothing is lost by waiting: the step is planned again when the content is here.
        deferred[item] = monotonicNanoseconds() + 5_000_000_000
        guard let operation = fold.tree[item]?.version else { return nil }
        if missing[content.digest] != fold.index, loading.insert(content.digest).inserted {
            link.load(content.digest, by: operation)
        }
        return nil
    }

    func take(_ result: LinkEvent.ContentResult, _ digest: [UInt8], by operation: ClusterName) {
        loading.remove(digest)
        switch result {
        case .here:
            missing[digest] = nil
            for item in deferred.keys where fold.tree[item]?.content.digest == digest { deferred[item] = nil }
        case .missing:
            // It was replaced since, and the fold is behind; or it is gone for good.
            missing[digest] = fold.index
            for item in deferred.keys where fold.tree[item]?.content.digest == digest { passed.insert(item) }
            status.failure = "the content of an item is not in the cluster: \(Hexadecimal.encode(digest))"
        case .failed(let failure):
            status.failure = "\(failure)"
            // The content is damaged in etcd, or this machine cannot store it. Values, messages and locks do not wait for it.
            if case .malformed = failure {
                for item in deferred.keys where fold.tree[item]?.content.digest == digest { passed.insert(item) }
            }
        }
    }

    // MARK: What was taken out

    /// A file that is about to come out of the container, and what is to become of it. Kept until that is done, so that a
    /// program that was killed meanwhile goes on with it.
    struct Taken {
        var path: [UInt8]
        var aside: [UInt8]
        /// Contents that need not be kept.
        var expected: [ItemContent]

        var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.write(counted: path)
            writer.write(counted: aside)
            for content in expected {
                writer.write(content.kind.rawValue)
                writer.write(counted: content.digest)
            }
            return writer.bytes
        }

        func expects(_ found: ContentFiles.Found) -> Bool {
            found.kind != .other
                && expected.contains { $0.digest == found.digest && ($0.kind == .link) == (found.kind == .link) }
        }

        init(path: [UInt8], aside: [UInt8], expected: [ItemContent]) {
            (self.path, self.aside, self.expected) = (path, aside, expected)
        }

        init?(bytes: [UInt8]) {
            var reader = ByteReader(bytes)
            guard let path = try? reader.counted(), let aside = try? reader.counted() else { return nil }
            var expected: [ItemContent] = []
            while reader.remaining > 0 {
                guard let kind = (try? reader.number(UInt8.self)).flatMap(ItemContent.Kind.init),
                    let digest = try? reader.counted()
                else { return nil }
                expected.append(ItemContent(kind, digest))
            }
            (self.path, self.aside, self.expected) = (path, aside, expected)
        }
    }

    private func begin(_ taken: Taken, _ file: [UInt8]) throws {
        try store.store { try $0.set(.taken, file, taken.bytes) }
    }

    private func end(taken file: [UInt8]) throws { try store.store { try $0.set(.taken, file, nil) } }

    /// A file that came out, and when to look at it again.
    struct TakenOut {
        var file: [UInt8]
        var taken: Taken
        var due: Int64
    }

    /// How long what came out is kept. A process that was about to open it for writing, by the path that it had, has done so
    /// then, and writes where no path leads.
    private static let grace: Int64 = 1_000_000_000

    /// Puts what came out back beside the item if it was not expected. Otherwise it is removed when it is `due`, and no process
    /// has it open for writing: what a process writes yet may not be lost.
    private func finish(_ taken: Taken, _ file: [UInt8], isDue: Bool = false) throws {
        // Asked first: once there is no writer, the content stays as it is.
        let writers = try isDue ? contents.writers(of: file) : .some
        guard let found = try contents.content(of: file) else { return try end(taken: file) }
        if taken.expects(found) {
            if writers == .perhaps { return keep(taken, file, for: 60 * Self.grace) }
            if writers == .some { return keep(taken, file) }
            contents.remove(file)
        } else {
            do {
                try putBack(file, found, taken)
            } catch let error as CoordinationError {
                // In use, no room: it is not forgotten.
                status.failure = "\(error)"
                return keep(taken, file)
            }
        }
        try end(taken: file)
    }

    private func keep(_ taken: Taken, _ file: [UInt8], for time: Int64 = grace) {
        takenOut.append(TakenOut(file: file, taken: taken, due: monotonicNanoseconds() + time))
        takenOut.sort { $0.due < $1.due }
    }

    /// Notes what has come out and is not known, after a boot: a power cut may have taken the notes, which are not written to the
    /// disk for each item.
    func noteLostTaken() throws {
        let boot = try bootIdentifier()
        if try store.value("boot") == boot { return }
        lostTaken = Set(try contents.outNames()).subtracting(try takenNames())
        if lostTaken.isEmpty { try store.store { try $0.set("boot", boot) } }
    }

    /// Puts back what has come out without a note, once what the cluster has is known: what would have been expected is a base
    /// then, or in the cluster.
    func recoverTaken() {
        if lostTaken.isEmpty { return }
        var digests = Set(fold.tree.nodes.values.map(\.content.digest))
        for base in mirror.base.values { digests.insert(base.node.content.digest) }
        for name in lostTaken {
            do {
                if let found = try contents.content(of: name), found.kind == .other || !digests.contains(found.digest) {
                    let copy = FileNames.conflict(Array("recovered".utf8), freshName()) { _ in false }
                    try putBack(name, found, Taken(path: copy, aside: copy, expected: []))
                }
                lostTaken.remove(name)
                if lostTaken.isEmpty {
                    let boot = try bootIdentifier()
                    try store.store { try $0.set("boot", boot) }
                }
            } catch {
                // The file stays, and is tried again with the next connection.
                status.failure = "\(error)"
            }
        }
    }

    private func putBack(_ file: [UInt8], _ found: ContentFiles.Found, _ taken: Taken) throws {
        let start = taken.aside.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = Array(taken.aside[start...])
        func otherName() -> FileName { FileNames.conflict(name, freshName()) { _ in false } }
        for attempt in 0..<100 {
            var path = taken.aside[..<start] + (attempt == 0 ? name : otherName())
            do {
                try put(file, found, at: Array(path))
            } catch let error as CoordinationError where error.code == .conflict {
                continue
            } catch let error as CoordinationError where error.code == .notFound || error.code == .wrongType {
                // The directory is gone: in the root, then.
                path = otherName()[...]
                try put(file, found, at: Array(path))
            }
            note(conflict: Array(path))
            return try disk.look(at: Array(path))
        }
        throw CoordinationError(Errno.exists, operation: "move", item: printable(taken.aside))
    }

    private func put(_ file: [UInt8], _ found: ContentFiles.Found, at path: [UInt8]) throws {
        if found.kind == .other {
            // A directory may have come there a moment before the exchange.
            try disk.move(file, of: contents, to: path)
        } else {
            _ = try contents.place.exchange(
                file, at: ItemPath(bytes: path), replacing: false, mode: nil, purpose: "conflict", durability: .durable,
                timeout: .seconds(5))
        }
    }

    /// Looks again at what came out a while ago.
    func finishTakenOut(_ now: Int64) throws {
        let due = takenOut.prefix { $0.due <= now }
        takenOut.removeFirst(due.count)
        for each in due { try finish(each.taken, each.file, isDue: true) }
    }

    /// Goes on with what a killed program has taken out.
    func finishTaken() throws {
        var all: [(file: [UInt8], taken: Taken?)] = []
        try store.forEach(.taken) { key, value in all.append((key, Taken(bytes: value))) }
        for (file, taken) in all {
            if let taken { try finish(taken, file) } else { try end(taken: file) }
        }
    }

    /// Before the machine leaves its cluster: what came out and is written yet gets a conflict name, so that nothing of it is lost.
    func finishAllTaken(waiting nanoseconds: Int64) throws {
        let limit = monotonicNanoseconds() + nanoseconds
        try finishTaken()
        try noteLostTaken()
        recoverTaken()
        while let next = takenOut.first, case let now = monotonicNanoseconds(), now < limit {
            if next.due > now { pause(nanoseconds: min(next.due, limit) - now) }
            try finishTakenOut(monotonicNanoseconds())
        }
        for each in takenOut {
            let mayBeWritten = try contents.writers(of: each.file) != .none
            if let found = try contents.content(of: each.file), mayBeWritten || !each.taken.expects(found) {
                try putBack(each.file, found, each.taken)
            }
            try end(taken: each.file)
        }
        takenOut = []
    }

    /// The files that are to be gone on with.
    func takenNames() throws -> Set<[UInt8]> {
        var names = lostTaken
        try store.forEach(.taken) { key, _ in names.insert(key) }
        return names
    }
}
