import Glibc

/// An object for each thread. A caller that sets it sets it back before the thread ends.
/// Library calls: pthread_key_create(3), pthread_getspecific(3), pthread_setspecific(3)
@safe package final class ThreadLocal<Value: AnyObject>: @unchecked Sendable {
    private let key: pthread_key_t
    /// Where the process has no key left, nothing is kept.
    private let isUsable: Bool

    package init() {
        var key = pthread_key_t()
        isUsable = unsafe pthread_key_create(&key, nil) == 0
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
