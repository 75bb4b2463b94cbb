#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An object for each thread, released when the thread ends.
/// Library calls: pthread_key_create(3), pthread_getspecific(3), pthread_setspecific(3)
@safe package final class ThreadLocal<Value: AnyObject>: @unchecked Sendable {
    private let key: pthread_key_t
    /// Whether there is a key; where the process has none left, no object is kept.
    private let isUsable: Bool

    package init() {
        var key = pthread_key_t()
        isUsable =
            unsafe pthread_key_create(&key) { value in
                if let value = unsafe value { unsafe Unmanaged<AnyObject>.fromOpaque(value).release() }
            } == 0
        self.key = key
    }

    package var value: Value? {
        get {
            guard isUsable, let pointer = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
        }
        set {
            if !isUsable { return }
            let before = unsafe pthread_getspecific(key)
            unsafe pthread_setspecific(key, newValue.map { unsafe Unmanaged.passRetained($0).toOpaque() })
            if let before = unsafe before { unsafe Unmanaged<Value>.fromOpaque(before).release() }
        }
    }
}

/// A thread of this process, as long as it lives. Library calls: pthread_self(3), pthread_equal(3)
@safe package struct ThreadIdentity: Equatable, @unchecked Sendable {
    private let thread: pthread_t

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(thread: pthread_self()) }

    package static func == (one: ThreadIdentity, other: ThreadIdentity) -> Bool {
        pthread_equal(one.thread, other.thread) != 0
    }
}
