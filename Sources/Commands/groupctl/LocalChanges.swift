import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The calls of this machine's coordinator, with the durability that the options of a command name.
struct LocalChanges: ItemChanges {
    let coordinator: BlockingCoordinator
    let durability: Durability

    static let commands = ItemCommands { container, run in
        LocalChanges(
            coordinator: container.coordinator(purpose: run.options.purpose).blocking,
            durability: run.arguments.flag("relaxed") ? .relaxed : .durable)
    }

    func write(
        to path: ItemPath, if condition: WriteCondition, mode: UInt32?, timeout: Duration?,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult {
        try coordinator.write(to: path, durability: durability, if: condition, mode: mode, timeout: timeout, body)
    }

    func update(
        _ path: ItemPath, timeout: Duration?,
        _ body: (_ content: borrowing FileDescriptor, _ hasContents: Bool) throws -> [UInt8]
    ) throws -> WriteResult {
        try coordinator.updateBytes(
            path, durability: durability, timeout: timeout,
            reading: { reader in
                let hasContents = reader.size > 0
                return try reader.withFile { try body($0, hasContents) }
            }, absent: { try body(FileDescriptor.inMemory(), false) })
    }

    func createDirectory(_ path: ItemPath, timeout: Duration?) throws -> WriteResult {
        try coordinator.createDirectory(path, durability: durability, timeout: timeout)
    }

    func remove(_ path: ItemPath, recursively: Bool, timeout: Duration?) throws -> WriteResult {
        try coordinator.remove(path, recursively: recursively, durability: durability, timeout: timeout)
    }

    func move(_ path: ItemPath, to destination: ItemPath, replacing: Bool, timeout: Duration?) throws -> WriteResult {
        try coordinator.move(path, to: destination, replacing: replacing, durability: durability, timeout: timeout)
    }

    func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool, replacing: Bool, timeout: Duration?
    ) throws -> WriteResult {
        try coordinator.copy(
            path, to: destination, recursively: recursively, replacing: replacing, durability: durability,
            timeout: timeout)
    }
}
