#if Secrets
/// An error of a call for a secret. No error has a secret in it.
public enum SecretError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The secret, or the collection for new ones, is locked. The user was not asked: see
    /// `GroupSecrets.unlock(timeout:)`.
    case locked
    /// The service has not answered in time. Whether a `set` or a `remove` was carried out is not known.
    case timedOut
    /// The task was cancelled. Whether a `set` or a `remove` was carried out is not known.
    case cancelled
    /// There is no session bus: the program runs outside of a desktop session.
    case noSessionBus
    /// No program of the session offers the secret service, or the one that did has ended.
    case noService
    /// The service has no default collection, which secrets could be stored in.
    case noCollection
    /// The environment requests libsecret's file instead of the service (`SECRET_BACKEND=file`).
    case fileBackend
    /// A group or a name that cannot be used, for this reason.
    case invalidName(String)
    /// The secret is larger than the limit, in bytes.
    case tooLarge(limit: Int)
    /// The service or the system has refused the call; the text is the name of its error.
    case failed(String)

    /// A sentence for people, with what to do.
    public var description: String {
        switch self {
        case .locked: "the secrets are locked; unlock the keyring, by logging in or with a password manager"
        case .timedOut: "the secret service has not answered in time; try again, or start it anew"
        case .cancelled: "the call for a secret was cancelled"
        case .noSessionBus:
            "there is no session bus (D-Bus), and so no secret service; run the program in a desktop session, or set "
                + "DBUS_SESSION_BUS_ADDRESS"
        case .noService:
            "no secret service runs in this session; start one, such as gnome-keyring, KWallet or KeePassXC"
        case .noCollection:
            "the secret service has no default collection; create a keyring, and make it the default one"
        case .fileBackend:
            "SECRET_BACKEND requests a file instead of the secret service, and secrets are not kept in files; unset it"
        case .invalidName(let reason): "the name of a secret cannot be used: \(reason)"
        case .tooLarge(let limit): "the secret is larger than \(limit) bytes"
        case .failed(let reason): "the secret service has refused the call: \(reason)"
        }
    }
}
#endif
