import GroupContainer
#if Secrets
import GroupSecrets
#endif
import Transfers

/// The fields of a transfer's requests, with their secrets.
struct Credentials {
    let container: Container

    enum Answer {
        case fields([String])
        /// Why the request cannot be made; whether it may be made later.
        case failure(String, isPermanent: Bool)
    }

    /// Loads the secrets for a request. Another origin than that of the transfer's address gets none.
    func fields(of transfer: Transfer, for url: String) -> Answer {
        guard !transfer.fields.isEmpty, TransferAddress.origin(of: url) == TransferAddress.origin(of: transfer.url)
        else {
            return .fields([])
        }
        #if Secrets
        if container.hasOtherUsers {
            return .failure(
                "other users may write in this container, and one of them may have made this transfer: no secret of "
                    + "this user is sent", isPermanent: true)
        }
        var lines: [String] = []
        do throws(SecretError) {
            let secrets = try GroupSecrets(container)
            for field in transfer.fields {
                guard let secret = try secrets.blocking.secret(for: field.secret) else {
                    return .failure("the group has no secret '\(field.secret)'", isPermanent: true)
                }
                guard let line = field.line(secret) else {
                    return .failure("the secret '\(field.secret)' has bytes that no field can have", isPermanent: true)
                }
                lines.append(line)
            }
        } catch {
            return .failure("\(error)", isPermanent: !Self.mayPass(error))
        }
        return .fields(lines)
        #else
        return .failure(
            "this program was built without the package trait Secrets, and sends no secrets", isPermanent: true)
        #endif
    }

    #if Secrets
    /// Whether the user, or the session, may change what is in the way.
    private static func mayPass(_ error: SecretError) -> Bool {
        switch error {
        case .locked, .timedOut, .cancelled, .noSessionBus, .noService: true
        case .noCollection, .fileBackend, .invalidName, .tooLarge, .failed: false
        }
    }
    #endif
}
