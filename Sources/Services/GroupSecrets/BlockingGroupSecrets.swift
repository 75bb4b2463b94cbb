#if Secrets
/// Secrets whose calls block the thread. For programs without tasks; see `GroupSecrets`.
public struct BlockingGroupSecrets: Sendable {
    let secrets: GroupSecrets

    /// Stores a secret. See `GroupSecrets.set(_:for:timeout:)`.
    public func set(
        _ bytes: [UInt8], for name: String, timeout: Duration? = GroupSecrets.timeout
    ) throws(SecretError) {
        try secrets.storing(bytes, name, timeout).block()
    }

    /// Returns a secret; nil where there is none. See `GroupSecrets.secret(for:timeout:)`.
    public func secret(
        for name: String, timeout: Duration? = GroupSecrets.timeout
    ) throws(SecretError) -> [UInt8]? {
        try secrets.loading(name, timeout).block()
    }

    /// Removes a secret, and returns whether there was one. See `GroupSecrets.remove(_:timeout:)`.
    @discardableResult
    public func remove(
        _ name: String, timeout: Duration? = GroupSecrets.timeout
    ) throws(SecretError) -> Bool {
        try secrets.removing(name, timeout).block()
    }

    /// Returns the names of the group's secrets. See `GroupSecrets.names(timeout:)`.
    public func names(timeout: Duration? = GroupSecrets.timeout) throws(SecretError) -> [String] {
        try secrets.listing(timeout).block()
    }

    /// Unlocks the service's default collection. See `GroupSecrets.unlock(timeout:)`.
    public func unlock(timeout: Duration? = GroupSecrets.unlockTimeout) throws(SecretError) {
        try GroupSecrets.unlocking(timeout).block()
    }
}
#endif
