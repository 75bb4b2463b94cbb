/// The reason why a request to etcd failed.
package enum EtcdFailure: Error, Equatable, Sendable {
    /// No endpoint was reached: the request was surely not sent.
    case unreachable(String)
    /// The request was perhaps sent. Its answer was lost, late or incomplete, or the caller has ended the call.
    case noAnswer(String)
    /// The quota of etcd's database is used up. The write may have been made nevertheless: etcd applies the request
    /// that crosses the quota, and refuses it afterwards (`quotaApplierV3` in etcd's apply.go).
    case noSpace(String)
    /// The user, the password, the role or the certificate was refused; nothing was written.
    case denied(String)
    /// The endpoint answers, but not as the JSON gateway of an etcd that can be used. No etcd has received the request.
    case noGateway(String)
    /// The requested revision was compacted. The value is the oldest revision that is left, or 0 if etcd does not state
    /// it: etcd states it only for a watch.
    case compacted(UInt64)
    /// Any other error of etcd, with the code of gRPC.
    case refused(code: Int, String)
    /// The answer cannot be decoded, or is too large. The request was perhaps executed.
    case malformed(String)

    /// Whether this failure proves that the request has written nothing, and never will.
    ///
    /// etcd refuses a request with one of the following errors before it proposes the request, or before it applies the
    /// first operation. So these errors prove it: invalid arguments (code 3, with "request is too large", "too many
    /// operations" and "duplicate key"), not found (5, "requested lease not found"), failed preconditions (9), a
    /// revision out of range (11), not implemented (12), "too many requests" and a message above gRPC's limit (both 8),
    /// and what a member refuses because of its own state (`isOfTheMember`). All other errors may come while a proposal
    /// is on its way: "request timed out" with all its reasons, "server stopped" and "leader changed" (14), unknown
    /// errors (2) and internal ones (13).
    package var isSurelyNotWritten: Bool {
        switch self {
        case .unreachable, .denied, .noGateway, .compacted: true
        case .noAnswer, .noSpace, .malformed: false
        case .refused(3, _), .refused(5, _), .refused(9, _), .refused(11, _), .refused(12, _): true
        case .refused(8, let text): text.contains("too many requests") || text.contains("larger than max")
        case .refused: isOfTheMember
        }
    }

    /// Whether another member may execute the request: this member was not reached, or has refused the request because
    /// of its own state, before it did anything. The code of such a refusal is 14. In etcd 3.6 the code is 9, except
    /// for a missing leader.
    var isOfTheMember: Bool {
        switch self {
        case .unreachable: true
        case .refused(9, let text), .refused(14, let text): Self.memberErrors.contains(where: text.contains)
        default: false
        }
    }

    private static let memberErrors = ["no leader", "not capable", "not supported for learner"]

    /// Whether a new token may help: none was sent, or the one that was sent has ended or is older than a change of
    /// users or roles.
    var isOfTheToken: Bool {
        guard case .denied(let text) = self else { return false }
        return Self.tokenErrors.contains(where: text.contains)
    }

    /// Errors about the token. The last two are one error, whose text and code (2 or 3) depend on the patch release.
    private static let tokenErrors = [
        "user name is empty", "invalid auth token", "revision in header is old", "revision of auth store is old",
    ]

    /// Creates the failure for an error of etcd.
    init(code: Int, message: String) {
        let text = String(message.prefix(1_000))
        if text.contains("database space exceeded") {
            self = .noSpace(text)
        } else if text.contains("required revision has been compacted") {
            self = .compacted(0)
        } else if code == 7 || code == 16 || (Self.tokenErrors + Self.credentialErrors).contains(where: text.contains) {
            self = .denied(text)
        } else {
            self = .refused(code: code, text)
        }
    }

    /// Texts of further errors about users. Other errors have the same codes.
    private static let credentialErrors = [
        "invalid user ID or password", "user name not found", "invalid auth management",
    ]
}

extension EtcdFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(let text): "etcd is unreachable: \(text)"
        case .noAnswer(let text): "etcd has not answered: \(text)"
        case .noSpace(let text): "etcd's space is used up: \(text)"
        case .denied(let text): "etcd denies access: \(text)"
        case .noGateway(let text): "this is no etcd that can be used: \(text)"
        case .compacted(let revision): "the revision was compacted; the oldest is \(revision)"
        case .refused(let code, let text): "etcd refuses the request: \(text) (code \(code))"
        case .malformed(let text): "this is no answer of etcd: \(text)"
        }
    }
}
