import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// Brings the disk to the cluster's tree, one step at a time. How the file `list` gets the content that another machine
/// has written:
///
/// 1. Plan. `ClusterMirror.nextStep` compares the cluster's tree, the base and the disk as it was last seen, and
///    returns one step: create, rename, exchange or remove. Here: exchange the content of `list`.
/// 2. Prepare. The new content is copied to a file in the directory of contents. (If it is not on this machine, it is
///    loaded from etcd, and the item waits.) A note is stored that names the contents that may come out, and the path
///    under which any other content is kept. A program that is killed from here on reads the note at its next start.
/// 3. Lock. The change is a coordinated one, and waits up to 100 ms for the item's lock. If a process has the lock for
///    longer, the item is deferred, and other items go on.
/// 4. Exchange. renameat2(RENAME_EXCHANGE) puts the new file at `list`, and what stood there into the directory of
///    contents, even if it has become something else since the plan. A writer that takes no lock can change the file at
///    any moment up to this one, so a comparison before the exchange would prove nothing. A create and a rename need a
///    free path instead, and the removal of a directory needs an empty one.
/// 5. Compare what came out: see `DisplacedFiles`. If it is the expected content or the new one, it is removed a second
///    later, once no process has it open for writing; where the system does not show that, ten minutes later. A process
///    that still writes it finishes; then its content is an unexpected one. Unexpected content returns beside the item
///    as `list (conflict OPERATION)`, or after a removal at the item's own path, and is sent to the other machines as a
///    new item.
/// 6. Record. The disk as seen, and the base of the item, get the new state. If the program is killed before they are
///    stored, the next run finds by the note that the exchange was made (`ClusterMirror.madeEarlier`), or that the disk
///    is equal to the cluster's tree, and takes that over.
///
/// If the disk is not as planned, a step throws. Its paths are looked at again, and a new step is planned after the
/// next changes of the journal.
extension Machine {
    /// How long a step waits for an item that is in use, or has a presenter, before other items go on.
    static let patience = Duration.milliseconds(100)
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
                // The disk is not what the plan was made for. The item in the way may be of a kind that is never
                // mirrored, and stay there.
                let paths = try lookAgain(step)
                let isInTheWay = error.code == .notEmpty || paths.contains { disk.isUnmirrored($0) }
                let pause: Int64 = isInTheWay ? 1_000_000_000 : 20_000_000
                guard let item else { return }
                // What is in the way may stay for ever, so values and messages do not wait for such an item.
                schedule.wait(item, until: monotonicNanoseconds() + pause, isPassed: isInTheWay)
                if error.code == .notEmpty, case .remove(let local, _) = step {
                    // Items of the cluster that are in the directory leave it soon, and the next try removes it.
                    // Otherwise this reason stays.
                    obstacles[disk.path(of: local)] =
                        "it was removed on another machine, and has items that are not mirrored"
                }
                full.ended(.item(item))
            case .lockTimedOut, .presenterUnresponsive, .presenterFailed, .deadlock, .unfinished:
                if let item {
                    schedule.wait(item, until: monotonicNanoseconds() + Self.deferral, isPassed: true)
                    full.ended(.item(item))
                }
            case .noSpace:
                try lookAgain(step)
                if let item { lacksRoom(item, error, size: contentSize(of: step)) }
            default:
                // The causes, such as a missing permission, concern this item only.
                try lookAgain(step)
                if let item {
                    report.failures.failed(.item(item), "\(error)")
                    schedule.wait(item, until: monotonicNanoseconds() + 2_000_000_000, isPassed: true)
                    full.ended(.item(item))
                }
            }
        }
    }

    /// Lets an item wait until there may be room for it, while other items go on.
    private func lacksRoom(_ item: ItemName, _ error: any Error, size: UInt64?) {
        full.failed(.item(item), error, size: size ?? .max)
        schedule.wait(item, until: full.next, isPassed: true)
    }

    /// Returns the size of the content that a step needs; nil if it is not known.
    private func contentSize(of step: MirrorStep) -> UInt64? {
        switch step {
        case .create(_, _, _, let content), .exchange(_, _, let content, _):
            content.kind == .file ? contents.size(of: content.digest) : 0
        case .rename, .remove: 0
        }
    }

    /// Returns the item that a step is made for. This item is deferred if the step fails.
    private func item(of step: MirrorStep) -> ItemName? {
        switch step {
        case .create(let item, _, _, _): item
        case .rename(let local, _, _), .exchange(let local, _, _, _), .remove(let local, _):
            mirror.items[local] ?? mirror.firstStale
        }
    }

    /// Looks at the paths of a step, and returns them.
    @discardableResult
    private func lookAgain(_ step: MirrorStep) throws -> [[UInt8]] {
        var wanted: ItemContent?
        if case .create(_, _, _, let content) = step { wanted = content }
        let paths: [[UInt8]] =
            switch step {
            case .create(_, let parent, let name, _): [disk.path(name, in: parent)]
            case .rename(let local, let parent, let name): [disk.path(of: local), disk.path(name, in: parent)]
            case .exchange(let local, _, _, let aside):
                [disk.path(of: local), disk.path(aside, in: disk.tree[local]?.parent ?? .root)]
            case .remove(let local, _): [disk.path(of: local)]
            }
        // An item that was not found may have been moved: the journal shows where to.
        for path in paths { try disk.look(at: path, wanting: wanted) }
        mustCheckRemovals = true
        return paths
    }

    private func purpose(of item: ItemName?) -> String { ClusterEntry.purpose(of: item.flatMap { authors[$0] }) }

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
            guard let staged = try staged(content, for: item) else { return }
            do {
                _ = try contents.files.exchange(
                    staged.name, at: path, replacing: false, mode: content.kind == .file ? UInt32(content.mode) : nil,
                    purpose: purpose(of: item), durability: durability, timeout: Self.patience)
            } catch {
                contents.discard(staged)
                throw error
            }
        }
        let local = disk.newItem()
        disk.putMade(local, LocalTree.Node(parent, name, content))
        mirror.made(.create(item, in: parent, name, content), by: local, in: fold.tree)
        if isCopy(item, name) { report.note(conflict: disk.path(name, in: parent)) }
    }

    /// Returns whether another machine has given an item its conflict name: it made the item of a file that came out of an
    /// exchange. Then the item that was exchanged is beside it. A file of a user may have such a name, too.
    private func isCopy(_ item: ItemName, _ name: FileName) -> Bool {
        guard let original = FileNames.original(ofConflict: name), let parent = fold.tree[item]?.parent else {
            return false
        }
        // Of a name that was cut, only the rest is known, and a recovered file has no original.
        return name.count > FileNames.longest - 4 || original == FileNames.recovered
            || fold.tree.child(of: parent, original) != nil
    }

    private func rename(_ local: LocalItem, to parent: LocalItem, _ name: FileName, _ durability: Durability) throws {
        guard let node = disk.tree[local] else { return }
        let old = disk.path(of: local)
        try coordinator(mirror.items[local]).move(
            ItemPath(bytes: old), to: ItemPath(bytes: disk.path(name, in: parent)),
            durability: durability, timeout: Self.patience)
        disk.put(local, LocalTree.Node(parent, name, node.content))
        // A copy is reported under its new name. `Report.show` forgets the old one.
        if FileNames.original(ofConflict: name) != nil, report.hasNoted(conflict: old) {
            report.note(conflict: disk.path(name, in: parent))
        }
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
            guard let staged = try staged(new, for: item) else { return }
            let (ready, inode) = try translating(path) { () throws(Errno) in try contents.readyForExchange(staged) }
            let note = StoredTaken(
                path: disk.path(of: local), aside: disk.path(aside, in: node.parent), expected: [expected, new])
            do {
                try displaced.begin(note, ready.name)
            } catch {
                contents.discard(ready)
                throw error
            }
            // The call may throw after the exchange was made, so the inode decides whether it was.
            do {
                _ = try contents.files.exchange(
                    ready.name, at: path, replacing: true, mode: new.kind == .file ? UInt32(new.mode) : nil,
                    purpose: purpose(of: item), durability: durability, timeout: Self.patience)
            } catch {
                if contents.isFile(ready.name, withInode: inode) {
                    // The new file is still here: nothing was exchanged.
                    contents.discard(ready)
                    displaced.end(ready.name)
                } else {
                    try displaced.finish(note, ready.name, on: &disk)
                }
                throw error
            }
            try displaced.finish(note, ready.name, on: &disk)
        }
        disk.putMade(local, LocalTree.Node(node.parent, node.name, new))
        mirror.made(.exchange(local, expected: expected, new: new, aside: aside), by: nil, in: fold.tree)
    }

    private func remove(_ local: LocalItem, expected: ItemContent, _ durability: Durability) throws {
        let item = mirror.items[local]
        let path = disk.path(of: local)
        if expected.kind == .directory {
            try contents.files.removeDirectory(
                ItemPath(bytes: path), purpose: purpose(of: item), durability: durability, timeout: Self.patience)
        } else {
            let file = contents.outName()
            let note = StoredTaken(path: path, aside: path, expected: [expected])
            try displaced.begin(note, file)
            do {
                _ = try contents.files.takeOut(
                    ItemPath(bytes: path), to: file, purpose: purpose(of: item), durability: durability,
                    timeout: Self.patience)
            } catch {
                try displaced.finish(note, file, on: &disk)
                throw error
            }
            try displaced.finish(note, file, on: &disk)
        }
        // If something was put back at this path, `look` finds it as a new item.
        obstacles[path] = nil
        disk.forget(local)
        mirror.made(.remove(local, expected: expected), by: nil, in: fold.tree)
        try disk.look(at: path)
    }

    // MARK: Contents

    /// Makes a file in the directory of contents that can become the item. Returns nil if the content is not on this
    /// machine yet.
    private func staged(_ content: ItemContent, for item: ItemName) throws -> ContentFiles.Staged? {
        try translating(path(of: item)) { () throws(Errno) -> ContentFiles.Staged? in
            if content.kind == .link { return try contents.stage(linkTo: content.digest) }
            if let size = contents.size(of: content.digest) {
                if !full.mayFit(size) { throw .noSpace }
                let isInFlight = outbox.inFlight?.digests.contains(content.digest) ?? false
                return try contents.stage(content.digest, mayTake: !isInFlight)
            }
            // The step is planned again when the content has arrived, or at the end of this wait.
            schedule.wait(item, until: monotonicNanoseconds() + 5_000_000_000, isPassed: false)
            guard let operation = fold.tree[item]?.version else { return nil }
            if schedule.beginLoading(content.digest, at: fold.index) {
                link.load(content.digest, by: operation)
            }
            return nil
        }
    }

    /// Runs `body`, and translates its error into that of an item.
    private func translating<Result>(
        _ path: ItemPath, _ body: () throws(Errno) -> Result
    ) throws(CoordinationError) -> Result {
        do throws(Errno) {
            return try body()
        } catch {
            throw Self.notStored(path, error)
        }
    }

    static func notStored(_ path: ItemPath, _ error: Errno) -> CoordinationError {
        CoordinationError(error, operation: "store the content of", item: path.description)
    }

    /// Returns the path that an item has in the cluster.
    private func path(of item: ItemName) -> ItemPath {
        ItemPath(bytes: Array(fold.tree.path(item).joined(separator: [UInt8(ascii: "/")])))
    }

    /// The digests of the contents that must stay on this machine: the entry in flight needs them, or a stale item
    /// will.
    var neededContents: Set<[UInt8]> {
        var digests = Set(outbox.inFlight?.digests ?? [])
        for item in mirror.stale.elements { if let node = fold.tree[item] { digests.insert(node.content.digest) } }
        return digests
    }

    func take(_ result: LinkEvent.ContentResult, _ digest: [UInt8], by operation: ClusterName) {
        schedule.endedLoading(digest)
        func isItem(_ item: ItemName) -> Bool { fold.tree[item]?.content.digest == digest }
        switch result {
        case .here: schedule.arrived(digest, for: isItem)
        case .missing:
            schedule.isMissing(digest, at: fold.index, for: isItem)
            let text = "the content of an item is not in the cluster: \(Hexadecimal.encode(digest))"
            for item in mirror.stale.elements where isItem(item) { report.failures.failed(.item(item), text) }
        case .noRoom(let error):
            for item in schedule.waiting where isItem(item) {
                lacksRoom(item, Self.notStored(path(of: item), error), size: nil)
            }
        case .failed(let failure):
            for item in mirror.stale.elements where isItem(item) { report.failures.failed(.item(item), "\(failure)") }
            // The content is damaged in etcd. Values, messages and locks no longer wait for its items.
            if case .malformed = failure { schedule.pass(isItem) }
        }
    }
}
