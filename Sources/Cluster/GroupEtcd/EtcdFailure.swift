/// The reason why a call of etcd failed.
package enum EtcdFailure: Error, Equatable, Sendable {
    /// No endpoint was reached: the request was surely not sent.
    case unreachable(String)
    /// The request was perhaps sent; its answer was lost, late or broken off, or the call was cancelled.
    case noAnswer(String)
    /// The quota of etcd's database is used up. The write may stand nevertheless: the request that crosses the quota is
    /// applied, and refused afterwards (`quotaApplierV3` in etcd's apply.go).
    case noSpace(String)
    /// The user, the password, the role or the certificate was refused; nothing was written.
    case denied(String)
    /// The endpoint answers, but not as the JSON gateway of an etcd that can be used; no etcd has seen the request.
    case noGateway(String)
    /// The requested revision is gone; the oldest that stands, or 0 where etcd does not name it (it does for a watch).
    case compacted(UInt64)
    /// Any other error of etcd, with the code of gRPC.
    case refused(code: Int, String)
    /// Bytes that are no answer. The request was perhaps carried out.
    case malformed(String)

    /// Whether this failure proves that the request has written nothing, and never will.
    ///
    /// Of the errors of etcd these prove it: invalid arguments (code 3, with "request is too large", "too many
    /// operations" and "duplicate key"), what was not found (5, "requested lease not found"), preconditions (9), a
    /// revision out of range (11), what is not implemented (12), "too many requests" and a message above gRPC's limit
    /// (8), and what a member refuses because of its own state (`isOfTheMember`): etcd checks them before it proposes
    /// the request, or before it applies the first operation of it. All others may come while a proposal is on its way:
    /// "request timed out" with all its reasons, "server stopped", "leader changed" (14), and what is unknown (2) or
    /// internal (13).
    package var isSurelyNotWritten: Bool {
        switch self {
        case .unreachable, .denied, .noGateway, .compacted: true
        case .noAnswer, .noSpace, .malformed: false
        case .refused(3, _), .refused(5, _), .refused(9, _), .refused(11, _), .refused(12, _): true
        case .refused(8, let text): text.contains("too many requests") || text.contains("larger than max")
        case .refused: isOfTheMember
        }
    }

    /// Whether another member of the cluster may answer what this one refused before it did anything. The code is 14,
    /// and in etcd 3.6 it is 9, except for a missing leader.
    var isOfTheMember: Bool {
        switch self {
        case .unreachable: true
        case .refused(9, let text), .refused(14, let text): Self.memberErrors.contains(where: text.contains)
        default: false
        }
    }

    private static let memberErrors = ["no leader", "not capable", "not supported for learner"]

    /// Whether a new token may help: this one has ended, or is of a time before a change of users or roles.
    var isOfTheToken: Bool {
        guard case .denied(let text) = self else { return false }
        return Self.tokenErrors.contains(where: text.contains)
    }

    /// Errors about the token. The last two are one error, whose text and code (2 or 3) depend on the patch release.
    private static let tokenErrors = [
        "user name is empty", "invalid auth token", "revision in header is old", "revision of auth store is old",
    ]

    /// The failure for an error of etcd.
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

    /// Further errors about users that have a code which others have, too.
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
