package import CGroupInterface
import GroupContainer
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The objects that C programs refer to. A handle is a number that is never used again, so that a closed handle, or one
/// of another kind, is an error and not a fault.
///
/// fork(2) copies the table while no thread changes it, and makes the parent's handles the child's no more: the objects
/// of the parent have threads and locks that the child does not.
enum Handles {
    private struct Entry {
        var object: any Sendable & AnyObject
        var forks: UInt32
    }
    private nonisolated(unsafe) static var entries: [UInt: Entry] = [:]
    private nonisolated(unsafe) static var last: UInt = 0
    private nonisolated(unsafe) static var forks: UInt32 = 0
    /// Guards all of these; a plain mutex, as the functions that fork(2) calls lock and unlock it.
    private nonisolated(unsafe) static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        return unsafe mutex
    }()
    /// Whether the functions for fork(2) are installed.
    private static let isReady: Bool = {
        pthread_atfork(
            { unsafe pthread_mutex_lock(Handles.mutex) }, { unsafe pthread_mutex_unlock(Handles.mutex) },
            {
                unsafe Handles.forks += 1
                unsafe pthread_mutex_unlock(Handles.mutex)
            }) == 0
    }()

    private static func locked<Answer>(_ body: () -> Answer) -> Answer {
        _ = isReady
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Returns a new handle for an object, which the table keeps until `remove`.
    static func add(_ object: some Sendable & AnyObject) -> OpaquePointer? {
        unsafe locked {
            unsafe last += 1
            unsafe entries[last] = unsafe Entry(object: object, forks: forks)
            return unsafe OpaquePointer(bitPattern: last)
        }
    }

    /// Returns the object of a handle. Errors: `invalidArgument` for NULL, a closed handle and one of another kind;
    /// `forked` for a handle of the parent process
    static func object<Object>(_ handle: OpaquePointer?, as type: Object.Type) throws(CoordinationError) -> Object {
        let number = UInt(bitPattern: handle)
        let (entry, present) = locked { unsafe (entries[number], forks) }
        guard let entry, let object = entry.object as? Object else {
            throw CoordinationError(
                .invalidArgument, operation: "use a handle",
                reason: number == 0 ? "it is NULL" : "it is closed, or is of another kind")
        }
        if entry.forks != present {
            throw CoordinationError(
                .forked, operation: "use a handle", reason: "it is the parent process's",
                remedy: .init(.reopen, "open the container anew in the child"))
        }
        return object
    }

    /// Closes a handle. Returns its object; nil for NULL, a closed handle, one of another kind, and one of the parent
    /// process.
    @discardableResult
    static func remove<Object>(_ handle: OpaquePointer?, as type: Object.Type) -> Object? {
        let number = UInt(bitPattern: handle)
        return locked {
            guard let entry = unsafe entries[number], let object = entry.object as? Object,
                entry.forks == (unsafe forks)
            else { return nil }
            unsafe entries[number] = nil
            return object
        }
    }
}

@c @implementation package func group_cancellation_create(
    _ cancellation: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("create a cancellation", error) {
        try unsafe set(cancellation) { unsafe Handles.add(CancellationToken()) }
    }
}

@c @implementation package func group_cancellation_cancel(_ cancellation: OpaquePointer?) {
    try? unsafe Handles.object(cancellation, as: CancellationToken.self).cancel()
}

@c @implementation package func group_cancellation_close(_ cancellation: OpaquePointer?) {
    unsafe Handles.remove(cancellation, as: CancellationToken.self)
}
