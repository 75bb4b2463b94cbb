#if Secrets
import CGroupSecret
import GroupSystemCalls

/// A call of the secret service, on a thread of its own. The caller waits for its end or for the deadline, whatever
/// comes first, so that no service can hold the caller up. At the deadline, or when the task is cancelled, the call is
/// cancelled, and its thread goes on until libsecret returns.
struct SecretCall<Answer: Sendable>: Sendable {
    private let result = OneShotEvent<Result<Answer, SecretError>>()
    private let cancellation = ServiceCancellation()
    private let deadline: Deadline

    /// Begins a call. Errors: `fileBackend`; `failed` where no thread can be started
    init(
        timeout: Duration?,
        _ work: @escaping @Sendable (ServiceCancellation) throws(SecretError) -> Answer
    ) throws(SecretError) {
        if let backend = environmentValue("SECRET_BACKEND"), backend == "file" { throw .fileBackend }
        deadline = Deadline(after: timeout)
        let (result, cancellation) = (result, cancellation)
        do throws(Errno) {
            try WorkThread.start {
                result.set(Result { () throws(SecretError) in try work(cancellation) })
            }
        } catch {
            throw .failed("no thread could be started: \(error)")
        }
    }

    /// Waits, blocking the thread.
    func block() throws(SecretError) -> Answer { try take(result.block(until: deadline)) }

    /// Waits, suspending the task.
    func suspend() async throws(SecretError) -> Answer { try take(await result.suspend(until: deadline)) }

    private func take(_ ending: OneShotEvent<Result<Answer, SecretError>>.Ending) throws(SecretError) -> Answer {
        switch ending {
        case .happened(let result): return try result.get()
        case .timedOut:
            cancellation.cancel()
            throw .timedOut
        case .cancelled:
            cancellation.cancel()
            throw .cancelled
        }
    }
}

/// A `GCancellable`, which any thread may use.
@safe final class ServiceCancellation: @unchecked Sendable {
    let handle: OpaquePointer?

    init() { unsafe handle = group_secret_cancellable() }

    deinit { unsafe group_secret_release(handle) }

    func cancel() { unsafe g_cancellable_cancel(handle) }
}

/// The calls of the shim. They block the thread.
enum ServiceCalls {
    /// Stores a secret, in place of one of that name.
    static func store(
        _ bytes: [UInt8], _ name: String, of group: String, _ cancellation: ServiceCancellation
    ) throws(SecretError) {
        var fault = group_secret_fault()
        let status = unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress
            return unsafe group_secret_store(cancellation.handle, group, name, start, bytes.count, &fault)
        }
        try check(status, fault)
    }

    /// Returns a secret; nil where there is none.
    static func secret(
        _ name: String, of group: String, _ cancellation: ServiceCancellation
    ) throws(SecretError) -> [UInt8]? {
        var fault = group_secret_fault()
        var value: UnsafeMutableRawPointer?
        let status = unsafe group_secret_lookup(cancellation.handle, group, name, &value, &fault)
        if status == GROUP_SECRET_ABSENT { return nil }
        try check(status, fault)
        defer { unsafe group_secret_free_value(value) }
        var count = 0
        let start = unsafe group_secret_bytes(value, &count)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Removes a secret. Returns false where there was none.
    static func remove(
        _ name: String, of group: String, _ cancellation: ServiceCancellation
    ) throws(SecretError) -> Bool {
        var fault = group_secret_fault()
        let status = unsafe group_secret_remove(cancellation.handle, group, name, &fault)
        if status == GROUP_SECRET_ABSENT { return false }
        try check(status, fault)
        return true
    }

    /// Returns the names of a group's secrets.
    static func names(of group: String, _ cancellation: ServiceCancellation) throws(SecretError) -> [String] {
        var fault = group_secret_fault()
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let status = unsafe group_secret_names(cancellation.handle, group, &list, &fault)
        if status == GROUP_SECRET_ABSENT { return [] }
        try check(status, fault)
        defer { unsafe g_strfreev(list) }
        var names: Set<String> = []
        var next = unsafe list
        while let text = unsafe next?.pointee {
            // Another program may have stored what is no text; there is no such name here.
            if let name = unsafe String(validatingCString: text) { names.insert(name) }
            unsafe next = next?.successor()
        }
        return names.sorted()
    }

    /// Unlocks the default collection, by a prompt where the service needs one.
    static func unlock(_ cancellation: ServiceCancellation) throws(SecretError) {
        var fault = group_secret_fault()
        try check(unsafe group_secret_unlock(cancellation.handle, &fault), fault)
    }

    private static func check(_ status: group_secret_status, _ fault: group_secret_fault) throws(SecretError) {
        switch status {
        case GROUP_SECRET_DONE: return
        case GROUP_SECRET_LOCKED: throw .locked
        case GROUP_SECRET_NO_BUS: throw .noSessionBus
        case GROUP_SECRET_NO_SERVICE: throw .noService
        case GROUP_SECRET_NO_COLLECTION: throw .noCollection
        // The bus's own limit, or the cancellation of a caller that does not wait any more.
        case GROUP_SECRET_CANCELLED: throw .timedOut
        default:
            var fault = fault
            throw .failed(unsafe String(cString: group_secret_reason(&fault)))
        }
    }
}
#endif

#if Secrets
extension GroupSecrets {
    /// The place of a secret, without the secret: for records, messages and settings that other programs of the group
    /// read.
    public struct Reference: Codable, Hashable, Sendable {
        /// The group's identifier.
        public let group: String
        /// The secret's name.
        public let name: String

        /// Names a secret. Whether the names can be used is checked with the call that loads the secret.
        public init(group: String, name: String) { (self.group, self.name) = (group, name) }

        /// Loads the secret that the reference names. See `GroupSecrets.secret(for:timeout:)`.
        public func secret(timeout: Duration? = GroupSecrets.timeout) async throws(SecretError) -> [UInt8]? {
            try await GroupSecrets(group: group).secret(for: name, timeout: timeout)
        }

        /// The blocking form of `secret`.
        public var blocking: BlockingReference { BlockingReference(reference: self) }
    }

    /// The call of a `Reference` that waits, in a form that blocks the calling thread.
    public struct BlockingReference: Sendable {
        let reference: Reference

        /// Loads the secret that the reference names. See `GroupSecrets.secret(for:timeout:)`.
        public func secret(timeout: Duration? = GroupSecrets.timeout) throws(SecretError) -> [UInt8]? {
            try GroupSecrets(group: reference.group).blocking.secret(for: reference.name, timeout: timeout)
        }
    }

    /// Returns a reference to a secret of this group. The secret need not exist yet.
    public func reference(to name: String) -> Reference { Reference(group: group, name: name) }
}
#endif
