import GroupCluster
import TestSupport

/// A machine: a disk that changes at any time, what it has stored, and what it has in memory.
struct SimulatedMachine {
    struct Core {
        var fold = ClusterFold()
        var mirror = ClusterMirror()
        var outbox: ClusterOutbox
    }

    var core: Core
    var stored: Core
    var disk = LocalTree()
    private var lastLocal: UInt64 = 0
    /// Counts restarts: a packet for an earlier life is lost.
    var life = 0
    var hasLink = true
    /// History was compared since the connection was made.
    var isConnected = false
    /// The reading that is awaited; events wait meanwhile.
    var reading: Int?
    var watched: UInt64 = 0
    var hasOtherHistory = false
    var wasStopped = false
    var grant: ClusterName?
    var comebacks = 1
    var rescans = 0

    init(_ name: ClusterName) {
        core = Core(outbox: ClusterOutbox(machine: name))
        stored = core
    }

    mutating func store() { stored = core }

    /// Kills the program and starts it again.
    mutating func restart() {
        core = stored
        life += 1
        comebacks += 1
        (isConnected, reading, grant) = (false, nil, nil)
        rescan()
    }

    mutating func rescan() {
        rescans += 1
        for local in core.mirror.differences(on: disk) { core.outbox.add(.item(local)) }
    }

    mutating func newLocal() -> LocalItem {
        lastLocal += 1
        return LocalItem(lastLocal)
    }

    /// Changes the disk by something else than the program.
    mutating func put(_ local: LocalItem, _ node: LocalTree.Node?) {
        disk.put(local, node)
        core.outbox.add(.item(local))
    }

    /// Makes a step, on a disk that may not be any more what the step was planned for.
    mutating func perform(_ step: MirrorStep) {
        var made: LocalItem?
        switch step {
        case .create(_, let parent, let name, let content):
            if !disk.isDirectory(parent) || disk.child(of: parent, name) != nil { return }
            let local = newLocal()
            disk.put(local, LocalTree.Node(parent, name, content))
            made = local
        case .rename(let local, let parent, let name):
            guard let node = disk[local], disk.isDirectory(parent), !disk.isWithin(parent, local),
                disk.child(of: parent, name) == nil
            else { return }
            disk.put(local, LocalTree.Node(parent, name, node.content))
        case .exchange(let local, let expected, let new, let aside):
            guard let node = disk[local] else { return }
            if !node.content.isSame(as: expected), !node.content.isSame(as: new) {
                if disk.child(of: node.parent, aside) != nil { return }
                put(newLocal(), LocalTree.Node(node.parent, aside, node.content))
            }
            disk.put(local, LocalTree.Node(node.parent, node.name, new))
        case .remove(let local, let expected):
            guard disk[local]?.content == expected, disk.children(of: local).isEmpty else { return }
            disk.put(local, nil)
        }
        core.mirror.made(step, by: made, in: core.fold.tree)
    }

    /// Returns the contents of the disk by their paths.
    var paths: [String: ItemContent] {
        var result: [String: ItemContent] = [:]
        for (local, node) in disk.nodes {
            let names = (disk.ancestors(local).compactMap { disk[$0]?.name } + [node.name])
            let content = node.content.kind == .directory ? ItemContent(.directory) : node.content
            result[names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")] = content
        }
        return result
    }
}
