#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A value protected by a mutex. (`Synchronization.Mutex` would do, but ThreadSanitizer does not understand it.)
@safe public final class Guarded<Value>: @unchecked Sendable {
    /// The mutex is first, so that its address is that of the whole.
    @unsafe @usableFromInline struct Storage {
        @usableFromInline var mutex = unsafe pthread_mutex_t()
        @usableFromInline var value: Value

        @usableFromInline init(_ value: sending Value) { unsafe self.value = value }
    }

    /// Behind a pointer, because each access to a variable of a class is recorded while it lasts, in memory of the
    /// thread: as much work as the mutex.
    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    /// Guards a value.
    public init(_ value: sending Value) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: Storage(value))
        unsafe pthread_mutex_init(mutex, nil)
    }

    @inlinable var mutex: UnsafeMutablePointer<pthread_mutex_t> {
        unsafe UnsafeMutableRawPointer(storage).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// Runs `body` while it holds the mutex. `body` should decide and return; long work and calls of other code come
    /// after it. (Public, because only then it is inlined: it then costs a mutex, and no search for the metadata of its
    /// types.)
    @inlinable public func withLock<Answer, Failure: Error>(_ body: (inout Value) throws(Failure) -> Answer)
        throws(Failure)
        -> Answer
    {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&storage.pointee.value)
    }
}
