#if Secrets
public import GroupContainer

/// Secrets that the programs of a group share: tokens and passwords, which the desktop's secret service keeps, such as
/// gnome-keyring.
///
///     let secrets = try GroupSecrets(group: "group.com.example.mail")
///     try await secrets.set(Array(token.utf8), for: "token")
///     let token = try await secrets.secret(for: "token")
///
/// The service stores each secret encrypted, with the group's identifier and the secret's name as attributes. The
/// service does not isolate the programs of a session from each other: any program of the user that reaches the session
/// bus can read all secrets of an unlocked collection. What this type adds is that a secret is in no file of the
/// container, no command line, no error and no log.
///
/// Secrets are never written to a file by this library. Where there is no service, each call throws. Each call has a
/// deadline, and uses a connection to the bus of its own; a service that was started anew is found again. `blocking`
/// has the calls that block.
public struct GroupSecrets: Sendable {
    /// The group's identifier.
    public let group: String

    /// How long a call waits for the service where no `timeout` is given: 10 s.
    public static let timeout = Duration.seconds(10)
    /// How long `unlock` waits for the user where no `timeout` is given: 2 minutes.
    public static let unlockTimeout = Duration.seconds(120)
    /// The largest secret: 64 KiB.
    public static let largestSecret = 64 << 10
    private static let longestName = 255

    /// Names the secrets of a group identifier, such as `group.com.example.mail`. Calls no service.
    ///
    /// - Parameter identifier: The identifier, of 1 to 255 bytes.
    ///
    /// Errors: `invalidName`
    public init(group identifier: String) throws(SecretError) {
        try Self.check(identifier, "a group")
        group = identifier
    }

    /// Names the secrets of a container's group.
    ///
    /// - Parameter container: A container that was created with a group identifier.
    ///
    /// Errors: `invalidName` where the container has no group identifier: secrets are found by it, and not by a path.
    public init(_ container: Container) throws(SecretError) {
        guard let identifier = container.groupIdentifier else {
            throw .invalidName("the container has no group identifier")
        }
        try self.init(group: identifier)
    }

    private static func check(_ text: String, _ what: String) throws(SecretError) {
        if (1...longestName).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return
        }
        throw .invalidName("\(what) has 1 to \(longestName) bytes, without control characters")
    }

    /// The form whose calls block the thread.
    public var blocking: BlockingGroupSecrets { BlockingGroupSecrets(secrets: self) }

    // MARK: Calls

    /// Stores a secret, in place of one of that name.
    ///
    /// - Parameters:
    ///   - bytes: The secret, of at most `largestSecret` bytes.
    ///   - name: The secret's name, of 1 to 255 bytes. The service may show it to the user.
    ///   - timeout: The limit of the wait for the service; nil for none.
    ///
    /// Errors: `tooLarge`, `invalidName`, `locked`, `timedOut`, `cancelled`, `noSessionBus`, `noService`,
    /// `noCollection`, `fileBackend`, `failed`. System calls: those of libsecret: connect(2), sendmsg(2), recvmsg(2),
    /// poll(2)
    public func set(
        _ bytes: [UInt8], for name: String, timeout: Duration? = GroupSecrets.timeout
    ) async throws(SecretError) {
        try await storing(bytes, name, timeout).suspend()
    }

    /// Returns a secret.
    ///
    /// - Parameters:
    ///   - name: The secret's name.
    ///   - timeout: The limit of the wait for the service; nil for none.
    /// - Returns: The secret; nil where there is none.
    ///
    /// Errors: those of `set(_:for:timeout:)` except `noCollection`
    public func secret(
        for name: String, timeout: Duration? = GroupSecrets.timeout
    ) async throws(SecretError) -> [UInt8]? {
        try await loading(name, timeout).suspend()
    }

    /// Removes a secret.
    ///
    /// - Parameters:
    ///   - name: The secret's name.
    ///   - timeout: The limit of the wait for the service; nil for none.
    /// - Returns: Whether there was a secret of that name.
    ///
    /// Errors: those of `secret(for:timeout:)`
    @discardableResult
    public func remove(
        _ name: String, timeout: Duration? = GroupSecrets.timeout
    ) async throws(SecretError) -> Bool {
        try await removing(name, timeout).suspend()
    }

    /// Returns the names of the group's secrets, sorted.
    ///
    /// - Parameter timeout: The limit of the wait for the service; nil for none.
    ///
    /// Errors: those of `secret(for:timeout:)`
    public func names(timeout: Duration? = GroupSecrets.timeout) async throws(SecretError) -> [String] {
        try await listing(timeout).suspend()
    }

    /// Unlocks the service's default collection, for which the service may ask the user for a password. No other call
    /// asks.
    ///
    /// - Parameter timeout: The limit of the wait for the service and the user; nil for none.
    ///
    /// Errors: `locked` where the user has dismissed the question, or the service cannot ask; those of
    /// `set(_:for:timeout:)`
    public func unlock(timeout: Duration? = GroupSecrets.unlockTimeout) async throws(SecretError) {
        try await Self.unlocking(timeout).suspend()
    }

    // MARK: The calls, begun

    func storing(_ bytes: [UInt8], _ name: String, _ timeout: Duration?) throws(SecretError) -> SecretCall<Void> {
        try Self.check(name, "a secret's name")
        if bytes.count > Self.largestSecret { throw .tooLarge(limit: Self.largestSecret) }
        let group = group
        return try SecretCall(timeout: timeout) { (cancellation) throws(SecretError) in
            try ServiceCalls.store(bytes, name, of: group, cancellation)
        }
    }

    func loading(_ name: String, _ timeout: Duration?) throws(SecretError) -> SecretCall<[UInt8]?> {
        try Self.check(name, "a secret's name")
        let group = group
        return try SecretCall(timeout: timeout) { (cancellation) throws(SecretError) in
            try ServiceCalls.secret(name, of: group, cancellation)
        }
    }

    func removing(_ name: String, _ timeout: Duration?) throws(SecretError) -> SecretCall<Bool> {
        try Self.check(name, "a secret's name")
        let group = group
        return try SecretCall(timeout: timeout) { (cancellation) throws(SecretError) in
            try ServiceCalls.remove(name, of: group, cancellation)
        }
    }

    func listing(_ timeout: Duration?) throws(SecretError) -> SecretCall<[String]> {
        let group = group
        return try SecretCall(timeout: timeout) { (cancellation) throws(SecretError) in
            try ServiceCalls.names(of: group, cancellation)
        }
    }

    static func unlocking(_ timeout: Duration?) throws(SecretError) -> SecretCall<Void> {
        try SecretCall(timeout: timeout) { (cancellation) throws(SecretError) in
            try ServiceCalls.unlock(cancellation)
        }
    }
}
#else
/// Unavailable: this package was built without the trait `Secrets`.
@available(
    *, unavailable,
    message: "enable the trait Secrets of the package group-container; it needs the Debian package libsecret-1-dev"
)
public enum GroupSecrets {}
#endif
