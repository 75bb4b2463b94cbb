import Cluster
import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

// What happens where etcd refuses this machine: the password is wrong, the user may not write, a certificate is not
// trusted, or an endpoint is no etcd.
//
// Nothing but a person ends a refusal. A program that has not been connected yet ends with an error, as the person who
// has started it is there to read it, and nothing is lost. A program that was connected goes on: the password may be
// changed on one machine after the other, and it reads the password file anew at each try. Until then it is not
// connected, the status and the doctor name the reason, and the tries are rare, because each costs etcd a hash of the
// password.

extension Machine {
    /// The time between two tries, in nanoseconds.
    private static let pauseOfRefusal: Int64 = 10_000_000_000

    /// Notes that etcd refuses this machine. Throws where the program has not been connected: it is to end.
    func takeRefusal(_ failure: EtcdFailure, _ refusal: EtcdRefusal) throws {
        let remedy = identity.remedy(for: refusal)
        if report.status.remedy != remedy {
            log("not connected: \(failure); \(remedy); trying again every \(Self.pauseOfRefusal / 1_000_000_000) s")
        }
        report.failures.failed(.log, "\(failure)")
        report.status.remedy = remedy
        if history.refused(at: monotonicNanoseconds(), pause: Self.pauseOfRefusal) {
            (report.status.isConnected, report.status.since) = (false, Date())
        }
        if !history.hasRead && currentPause == nil {
            try showStatus(force: true)
            throw CoordinationError(
                refusal == .noGateway ? .unavailable : .notPermitted, operation: "join the cluster",
                containerPath: "\(container.path)", reason: "\(failure)",
                remedy: .init(.init(rawValue: "changeAccess"), remedy),
                cause: failure)
        }
    }
}

extension MachineIdentity {
    /// Returns what a person can do about a refusal, in the words of the commands.
    func remedy(for refusal: EtcdRefusal) -> String {
        let user = user.map { "etcd's user '\($0)'" } ?? "the user of etcd"
        let file = passwordFile ?? "a file"
        return switch refusal {
        case .credentials:
            "write the password of \(user) into \(file), or state another user (--user, --password-file)"
        case .noUser: "state a user of etcd, and the file with the password (--user, --password-file)"
        case .passwordFile:
            "write the password of \(user) into a file that only its owner may read (--password-file)"
        case .permission:
            "let a role of \(user) read and write the keys of the container: "
                + "etcdctl role grant-permission ROLE --prefix=true readwrite \(ClusterKeys(name: name).prefix)"
        case .certificate:
            "state the certificate of the authority that has signed etcd's (--authority), and addresses that etcd's "
                + "certificates name (--etcd)"
        case .noGateway: "state the addresses for clients of etcd 3.4 or later, with its JSON gateway on (--etcd)"
        }
    }
}

extension EtcdFailure {
    /// What a person has to do about a failure that is no refusal; nil where it may end by itself.
    var remedy: String? {
        guard case .noSpace = self else { return nil }
        return
            "give each node of etcd a larger quota (--quota-backend-bytes) and start it anew, and run 'etcdctl alarm "
            + "disarm'; 'The space of etcd' in the guide has all steps"
    }
}

extension EtcdLink {
    /// What is known of this user's permissions.
    enum Access: Sendable {
        case unknown
        /// The user may read and write the container's keys.
        case granted
        case refused
    }

    func noteRefusal(_ failure: EtcdFailure) {
        if failure.refusal != nil { access.withLock { $0 = .refused } }
    }

    /// Checks that the user may read and write the container's keys, before the first change is to be sent. etcd checks
    /// the permissions of both branches of a transaction before it does anything, and only an empty branch of this one
    /// is carried out. Removals, unlike puts, need no room in a database that is full. Error: `denied`
    func checkPermissions(_ client: EtcdClient) throws(EtcdFailure) {
        if access.withLock({ $0 }) == .granted { return }
        let operations = keys.samples.flatMap { [EtcdOperation.range(.key($0)), .delete($0)] }
        do throws(EtcdFailure) {
            try client.transaction(then: [], else: operations)
        } catch {
            // etcd 3.5 refuses removals, too, where its database is full.
            guard case .noSpace = error else { throw error }
        }
        access.withLock { $0 = .granted }
    }
}
