package import CGroupInterface
import GroupContainer
import GroupSystemCalls
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Items under locks, as C has them.
private protocol AccessHandle: AnyObject, Sendable {
    func perform<Answer>(_ work: (Access) throws -> Answer) throws -> Answer
}

/// Locks that are held between calls, until `group_unlock`.
private final class LockedItems: AccessHandle {
    let locks: HeldLocks
    init(_ locks: HeldLocks) { self.locks = locks }
    func perform<Answer>(_ work: (Access) throws -> Answer) throws -> Answer { try locks.perform(work) }
}

/// The items of a transaction, as long as its callback runs.
private final class TransactionItems: AccessHandle {
    /// Used only on the thread of the callback.
    private nonisolated(unsafe) let access: Access
    private let thread = pthread_self()

    init(_ access: Access) { unsafe self.access = access }

    func perform<Answer>(_ work: (Access) throws -> Answer) throws -> Answer {
        if pthread_equal(thread, pthread_self()) == 0 {
            throw invalid("use an access", nil, "a transaction's access is for the thread of its callback")
        }
        return try work(unsafe access)
    }
}

/// Reads intents. Errors: `invalidArgument` for none, NULL and more than 65,536
private func intents(
    _ intents: UnsafePointer<group_intent>?, _ count: Int, _ operation: String
) throws(CoordinationError) -> [AccessIntent] {
    guard let intents = unsafe intents, count > 0 else { throw invalid(operation, nil, "there are no items to lock") }
    if count > 65_536 { throw invalid(operation, nil, "\(count) items are more than 65,536") }
    var all: [AccessIntent] = []
    for index in 0..<count {
        let intent = unsafe intents[index]
        let path = try unsafe itemPath(intent.path, operation)
        all.append(unsafe intent.is_writing ? .writing(path) : .reading(path))
    }
    return all
}

@c @implementation package func group_lock(
    _ container: OpaquePointer?, _ items: UnsafePointer<group_intent>?, _ count: Int,
    _ options: UnsafePointer<group_options>?, _ access: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("lock", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe Options(options, "lock")
        let intents = try unsafe intents(items, count, "lock")
        try unsafe set(access) {
            let locks = try opened.coordinator(options).lock(
                intents, durability: options.durability, timeout: options.timeout)
            return unsafe Handles.add(LockedItems(locks))
        }
    }
}

@c @implementation package func group_thread() -> UInt64 { Caller.current }

@c @implementation package func group_call_for(_ thread: UInt64) { Caller.work(for: thread) }

@c @implementation package func group_unlock(_ access: OpaquePointer?, _ error: ErrorPointer?) -> group_status {
    unsafe answering("unlock", error) {
        let items = try unsafe Handles.object(access, as: LockedItems.self)
        unsafe Handles.remove(access, as: LockedItems.self)
        try items.locks.unlock()
    }
}

@c @implementation package func group_transaction(
    _ container: OpaquePointer?, _ items: UnsafePointer<group_intent>?, _ count: Int,
    _ function: group_transaction_function?, _ context: UnsafeMutableRawPointer?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("transaction", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let options = try unsafe Options(options, "transaction")
        let intents = try unsafe intents(items, count, "transaction")
        guard let function = unsafe function else { throw invalid("transaction", nil, "the function is NULL") }
        let done = try opened.coordinator(options).transaction(
            intents, durability: options.durability, timeout: options.timeout
        ) { access in
            let handle = unsafe Handles.add(TransactionItems(access))
            defer { unsafe Handles.remove(handle, as: TransactionItems.self) }
            if unsafe function(context, handle) != 0 { throw Outcome.refused }
        }
        unsafe result?.pointee = group_result(
            generation: done.generation?.rawValue ?? 0, is_changed: done.generation != nil)
    }
}

/// Works with items under locks.
private func perform<Answer>(_ access: OpaquePointer?, _ work: (Access) throws -> Answer) throws -> Answer {
    if let items = try? unsafe Handles.object(access, as: TransactionItems.self) { return try items.perform(work) }
    return try unsafe Handles.object(access, as: LockedItems.self).perform(work)
}

/// Makes a change of one item under locks, and sets its result.
private func change(
    _ operation: String, _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?,
    _ body: (Access, ItemPath, Options) throws -> WriteResult
) -> group_status {
    unsafe answering(operation, error) {
        let options = try unsafe Options(options, operation)
        let path = try unsafe itemPath(path, operation)
        unsafe set(result, try perform(access) { try body($0, path, options) })
    }
}

@c @implementation package func group_access_read(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<group_content>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("read", error) {
        let path = try unsafe itemPath(path, "read")
        try unsafe set(result) { try unsafe content(perform(access) { try $0.readVersion(path) }) }
    }
}

@c @implementation package func group_access_write(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ data: UnsafeRawPointer?, _ length: Int,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("write", access, path, options, result, error) { access, path, options in
        try access.write(
            bytes: unsafe bytes(data, length, "write"), to: path, if: options.condition, mode: options.mode)
    }
}

@c @implementation package func group_access_remove(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("remove", access, path, options, result, error) { access, path, options in
        try access.remove(path, recursively: options.recursively, if: options.condition)
    }
}

@c @implementation package func group_access_move(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ destination: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("move", access, path, options, result, error) { access, path, options in
        try access.move(
            path, to: unsafe itemPath(destination, "move"), replacing: options.replacing, if: options.condition)
    }
}

@c @implementation package func group_access_copy(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ destination: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("copy", access, path, options, result, error) { access, path, options in
        try access.copy(
            path, to: unsafe itemPath(destination, "copy"), recursively: options.recursively,
            replacing: options.replacing)
    }
}

@c @implementation package func group_access_create_directory(
    _ access: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<group_options>?,
    _ result: UnsafeMutablePointer<group_result>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("create directory", access, path, options, result, error) { access, path, _ in
        try access.createDirectory(path)
    }
}
