import Cluster
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The calls that the cluster decides, for the commands over items.
struct ClusterChanges: ItemChanges {
    let coordinator: BlockingClusterCoordinator
    /// Whether `update` holds a lock of the cluster while its command runs.
    let isLocked: Bool

    static let commands = ItemCommands { container, run in
        ClusterChanges(
            coordinator: container.cluster(purpose: run.options.purpose).blocking,
            isLocked: run.arguments.subcommands.first == "update" && run.arguments.flag("locked"))
    }

    func write(
        to path: ItemPath, if condition: WriteCondition, mode: UInt32?, timeout: Duration?,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult {
        try coordinator.write(to: path, if: condition, mode: mode, timeout: timeout, body)
    }

    func update(
        _ path: ItemPath, timeout: Duration?,
        _ body: (_ content: borrowing FileDescriptor, _ hasContents: Bool) throws -> [UInt8]
    ) throws -> WriteResult {
        func changed(_ content: [UInt8]?) throws -> [UInt8] {
            let content = content ?? []
            return try body(FileDescriptor.inMemory(content), !content.isEmpty)
        }
        if isLocked { return try coordinator.update(path, timeout: timeout, changed) }
        return try coordinator.updateBytes(path, timeout: timeout, changed)
    }

    func createDirectory(_ path: ItemPath, timeout: Duration?) throws -> WriteResult {
        try coordinator.createDirectory(path, timeout: timeout)
    }

    func remove(_ path: ItemPath, recursively: Bool, timeout: Duration?) throws -> WriteResult {
        try coordinator.remove(path, recursively: recursively, timeout: timeout)
    }

    func move(_ path: ItemPath, to destination: ItemPath, replacing: Bool, timeout: Duration?) throws -> WriteResult {
        try coordinator.move(path, to: destination, replacing: replacing, timeout: timeout)
    }

    func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool, replacing: Bool, timeout: Duration?
    ) throws -> WriteResult {
        try coordinator.copy(path, to: destination, replacing: replacing, timeout: timeout)
    }
}

/// Runs COMMAND while this machine has a lock of the cluster, and returns COMMAND's status; an error if the lock was lost
/// meanwhile.
func lock(_ run: inout CommandRun) throws -> ExitStatus {
    guard let command = run.arguments.command else { throw run.arguments.usageError("COMMAND is missing") }
    let name = run.arguments.positional("NAME")?.validText ?? ""
    if name.isEmpty || name.utf8.count > 1_000 || name.hasPrefix("/") {
        throw run.arguments.usageError("NAME has 1 to 1,000 bytes of UTF-8, and does not begin with '/'")
    }
    let container = try run.openContainer()
    let progress = run.progress("locking '\(PipeText.escaped(Array(name.utf8)))' in the cluster")
    defer { progress.end() }
    let lock = try ClusterLock.acquireBlocking(name, in: container, timeout: run.lockTimeout)
    defer { lock.release() }
    progress.end()
    let grant = (name: "GROUP_CLUSTER_GRANT", value: Array(lock.grant.utf8))
    let status: ExitStatus
    do throws(Errno) {
        status = ExitStatus(rawValue: try CommandProcess.runUnderLock(command, variables: [grant], for: run))
    } catch {
        return try CommandStartFailure.statusOrThrow(of: command, error, for: run)
    }
    do throws(CoordinationError) {
        try lock.finishBlocking(timeout: run.lockTimeout)
    } catch {
        if status == .success { throw error }
        // COMMAND's own failure is the more important one.
        run.complain(of: error)
    }
    return status
}
