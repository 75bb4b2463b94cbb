import GroupCurl
import GroupSystemCalls

/// A watch of the keys with a prefix: all their changes from a revision on, in order.
///
/// A member that is cut off from the others has no new events. The watch requests that such a member ends it ("no
/// leader"); etcd 3.4 does so about three election timeouts, of one second each, after the member has lost its leader.
/// The watch also requests a sign of life from the member (`isProgress`) each third of `silence`. If no byte comes for
/// all of `silence`, the watch fails: the process was stopped, or the network is gone. (etcd's own notifications come
/// every ten minutes, too rarely to be of use.) etcd 3.4 has bugs that lose events, so a caller that must have all of
/// them reads the range from time to time.
///
/// The body of the request stays open for the signs of life. So the watch does not work through a proxy that waits for
/// the whole body.
package final class EtcdWatch: Sendable {
    private let configuration: EtcdConfiguration
    private let prefix: [UInt8]
    private let revision: UInt64
    private let silence: Duration
    private let canceller = CurlCanceller()

    /// - Parameters:
    ///   - revision: the first revision whose changes are wanted; 0 for the changes from now on.
    ///   - silence: the time without a byte after which the watch fails.
    package init(
        _ configuration: EtcdConfiguration, prefix: [UInt8], from revision: UInt64, silence: Duration = .seconds(30)
    ) {
        self.configuration = configuration
        self.prefix = prefix
        self.revision = revision
        self.silence = silence
    }

    /// Ends `run`, and every later `run` as soon as it begins.
    package func cancel() { canceller.cancel() }

    /// Calls the closure for each response, on this thread, until the closure returns false or `cancel` is called. The
    /// first response has no events: it shows that the watch has begun, and its `revision` is that of the store. To be
    /// called by one thread at a time.
    ///
    /// Errors: `compacted`; `noAnswer` if the stream breaks, or is silent; `refused` if the member has lost its leader;
    /// `denied` if the user may not watch the keys; `malformed`; if no endpoint begins a watch, those of a call of
    /// `EtcdClient`
    package func run(_ onResponse: (EtcdWatchResponse) -> Bool) throws(EtcdFailure) {
        let connection = EtcdConnection(configuration, canceller)
        var stream: EtcdWatchStream
        do throws(EtcdFailure) {
            stream = try connection.onEndpoints(isRepeatable: true) { endpoint throws(EtcdFailure) in
                try connection.authorized(endpoint) { fields throws(EtcdFailure) in
                    try EtcdWatchStream(connection, endpoint, fields, prefix: prefix, from: revision)
                }
            }
        } catch {
            if canceller.isCancelled { return }
            throw error
        }
        do throws(EtcdFailure) {
            while !canceller.isCancelled {
                for response in try stream.next(silence: silence) {
                    if !onResponse(response) || canceller.isCancelled { return }
                }
            }
        } catch {
            if canceller.isCancelled { return }
            throw error
        }
    }
}
