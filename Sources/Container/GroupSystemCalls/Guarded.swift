#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

/// A value protected by a mutex. (`Synchronization.Mutex` would do, but ThreadSanitizer does not understand it.)
@safe public final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    /// Guards a value.
    public init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
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
        return try body(&value)
    }
}
