import Cluster
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Makes entries of what was changed on this machine, and puts them in flight. An entry has changes of several items,
/// or changes of suites and messages, or one strict request.
extension Machine {
    /// Puts the next entry in flight, if nothing is in flight.
    func prepare() throws {
        if mustCheckRemovals { checkRemovals() }
        var tries = outbox.waitingCount
        while outbox.inFlight == nil, tries > 0, let draft = outbox.next() {
            tries -= 1
            switch draft {
            // `addRemovals` adds the item again when its removal may be sent.
            case .item(let local) where removals.withholds(local, mirror, disk.tree): continue
            case .item(let local) where disk.mayBeElsewhere(local): disk.noteChanged(local)
            case .item(let local) where awaitsRemovals(local): outbox.add(.item(local))
            case .item(let local): try prepare(local)
            case .entry(let entry, _) where entry.isStrict: try prepare(request: entry.operation)
            case .entry(let entry, _): try prepare(entry)
            }
        }
    }

    /// Returns whether a change has to wait for removals that are still queued. The cluster removes only an empty
    /// directory, so a removed directory waits for the removals of its items, and so does an item that now has its
    /// path.
    private func awaitsRemovals(_ local: LocalItem) -> Bool {
        var item = mirror.items[local]
        if let here = disk.tree[local] {
            guard let parent = here.parent == .root ? .root : mirror.items[here.parent] else { return false }
            item = fold.tree.child(of: parent, here.name)
        }
        guard let item, let old = mirror.base[item], disk.tree[old.local] == nil else { return false }
        return fold.tree.children(of: item).contains { child in
            mirror.base[child].map { disk.tree[$0.local] == nil && outbox.waits($0.local) } ?? false
        }
    }

    /// Gives up the entry in flight if one of its contents is missing, as after a power cut. An empty entry competes
    /// for its number, and its items are sent anew when that is decided.
    func giveUpLostContents() {
        guard let inFlight = outbox.inFlight, inFlight.empty == nil else { return }
        if inFlight.digests.allSatisfy({ contents.size(of: $0) != nil }) { return }
        _ = outbox.giveUp(inFlight.entry.operation, empty: .fresh())
        toStore.isOutboxChanged = true
    }

    /// The most items of an entry.
    static let mostAtOnce = 64

    /// Takes the next items from the outbox, as many as one commit can have together with their contents.
    private func batch(beginningWith local: LocalItem) -> [LocalItem] {
        var locals = [local]
        var room = Int64(ClusterKeys.smallContents) - Int64(clamping: disk.mark(of: local)?.size ?? 0)
        // While any item is stale, each item is sent alone, so that a stale one holds up no other.
        guard mirror.stale.isEmpty else { return locals }
        while locals.count < Self.mostAtOnce, let next = outbox.firstItem {
            let size = Int64(clamping: disk.mark(of: next)?.size ?? 0)
            if size > room || awaitsRemovals(next) || removals.withholds(next, mirror, disk.tree)
                || disk.mayBeElsewhere(next)
            {
                break
            }
            room -= size
            _ = outbox.next()
            locals.append(next)
        }
        return locals
    }

    /// Puts a local-first entry in flight: the differences between some items of the disk and their bases.
    func prepare(_ local: LocalItem) throws {
        let locals = batch(beginningWith: local)
        // If a file was changed since it was looked at, an attempt stores its present content, and the next attempt
        // sends that.
        for _ in 0..<Self.mostAttempts { if try prepare(locals) { return } }
        for local in locals { outbox.add(.item(local)) }
    }

    static let mostAttempts = 4

    /// Makes one attempt. Returns false if a file has a new content, which is stored now.
    private func prepare(_ locals: [LocalItem]) throws -> Bool {
        let operation = ClusterName.fresh()
        var attempt = mirror
        let (changes, sent) = attempt.changes(of: locals, on: disk.tree, in: fold.tree, operation: operation)
        if changes.isEmpty {
            for local in locals { full.ended(.sent(local)) }
            mirror = attempt
            return true
        }
        func again() { for local in locals { outbox.add(.item(local)) } }
        // The cluster has a newer change of an item among these, which is applied first. Until then these items wait in
        // the outbox.
        if sent.contains(where: { mirror.stale.contains($0.item) }) {
            again()
            return true
        }
        let isBulk = sent.count > 4
        for item in sent {
            switch try keep(item, isBulk: isBulk) {
            case .kept: continue
            case .changed: return false
            case .impossible(let reason):
                // The item is sent when it changes again.
                refuse(item.local, reason)
                disk.noteUnknown(item.local)
                for local in locals where local != item.local { outbox.add(.item(local)) }
                return true
            case .noRoom(let error, let size):
                // The item is added again after a pause: see `tryAgain`. The others go on.
                let path = ItemPath(bytes: disk.path(of: item.local))
                full.failed(.sent(item.local), Self.notStored(path, error), size: size)
                for local in locals where local != item.local { outbox.add(.item(local)) }
                return true
            }
        }
        for local in locals { full.ended(.sent(local)) }
        if isBulk { try disk.synchronize() }
        let entry = ClusterEntry(operation, changes, author: Array(identity.host.utf8.prefix(200)))
        if outbox.send(entry, sent: sent) {
            commits.begin()
            sendingPace.ended(changes: locals.count, at: monotonicNanoseconds())
            mirror = attempt
            if !obstacles.isEmpty { for local in locals { obstacles[disk.path(of: local)] = nil } }
        } else if locals.count > 1 {
            for local in locals.dropFirst() { outbox.add(.item(local)) }
            return try prepare([locals[0]])
        } else if let local = locals.first {
            refuse(local, "an entry with this item would be too large, or a name is not allowed")
        }
        return true
    }

    /// Puts a local-first entry with changes of suites and messages in flight.
    func prepare(_ entry: ClusterEntry) throws {
        guard let notes = order.notes(of: entry.operation) else { return }
        var entry = entry
        entry.author = Array(identity.host.utf8.prefix(200))
        try suites.synchronize(notes.suites)
        if !outbox.send(entry) {
            // `LocalOrder` keeps the sizes within their limits, but a channel's name may be too long.
            order.forget(entry.operation)
            return suites.noteUnsent(entry.changes)
        }
        commits.begin()
        sendingPace.ended(changes: entry.changes.count, at: monotonicNanoseconds())
        channels.sent(notes.posts)
        suites.noteSent(through: notes.positions)
        toStore.isOutboxChanged = true
    }

    private func refuse(_ local: LocalItem, _ reason: String) {
        let path = disk.path(of: local)
        if obstacles[path] != reason { log("not sent: '\(printable(path))': \(reason)") }
        obstacles[path] = reason
    }

    private enum Kept {
        case kept
        /// The file has a new content, which is stored now.
        case changed
        /// The content cannot be read, for this reason.
        case impossible(String)
        /// There is no room for the content, which has this size.
        case noRoom(Errno, UInt64)
    }

    /// Returns the directory of an item; for an item that is gone, the directory that it was in, or the next above it
    /// that is there.
    private func directory(of item: SentItem) -> LocalItem {
        if let here = disk.tree[item.local] { return here.parent }
        let above = mirror.ancestors(item.item).reversed().compactMap { mirror.base[$0.item]?.local }
        return above.first { disk.tree[$0] != nil } ?? .root
    }

    /// Stores the content that is about to be sent, and syncs it together with the item. Without the sync, a power cut
    /// could bring back an older content, which would be taken for a change and sent.
    private func keep(_ item: SentItem, isBulk: Bool) throws -> Kept {
        defer { if !isBulk { try? disk.synchronize(directory: directory(of: item)) } }
        switch item.change {
        case .created(_, _, let content), .written(let content):
            guard content.kind == .file else { return .kept }
            var size = UInt64.max
            do throws(Errno) {
                let file = try disk.open(file: item.local)
                let status = try file.status()
                if !status.isRegularFile || status.size > LocalDisk.largestFile { throw .tooLarge }
                size = status.size
                if !content.digest.isEmpty, contents.size(of: content.digest) != nil {
                    // A content that was loaded from the cluster is not synced, nor is a copy of another item.
                    if !isBulk {
                        try contents.open(content.digest).synchronizeData()
                        try file.synchronizeData()
                    }
                    return .kept
                }
                if !full.mayFit(size) { throw .noSpace }
                guard let digest = try contents.keep(file, isDurable: !isBulk) else { return .changed }
                if !isBulk { try file.synchronizeData() }
                if digest == content.digest { return .kept }
                disk.note(digest, status, of: item.local)
            } catch {
                switch error {
                case .accessDenied, .notPermitted, .nameTooLong, .inputOutput:
                    return .impossible("it cannot be read: \(error)")
                case .tooLarge: return .impossible("it is not a file of at most 64 MiB any more")
                case let error where FullDisk.isFull(error): return .noRoom(error, size)
                case let error where LocalDisk.isGone(error): try disk.look(at: disk.path(of: item.local))
                default: throw error
                }
            }
            return .changed
        case .moved, .removed: return .kept
        }
    }
}

extension ClusterOutbox.InFlight {
    /// The digests of the contents that the entry names.
    var digests: [[UInt8]] {
        var digests: Set<[UInt8]> = []
        for change in entry.changes {
            guard case .item(let change) = change else { continue }
            switch change.action {
            case .create(let content), .write(let content, _):
                if content.kind == .file { digests.insert(content.digest) }
            case .move, .remove, .check: continue
            }
        }
        return digests.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
