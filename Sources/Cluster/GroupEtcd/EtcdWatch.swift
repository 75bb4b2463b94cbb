import GroupCurl
import GroupSystemCalls

/// The changes of all keys with a prefix, from a revision on, in order.
///
/// A member that is cut off from the others has no new events. The watch requests that such a member ends it ("no
/// leader"), which etcd 3.4 does about three election timeouts, of one second, after it has lost its leader. Besides, it
/// requests a sign of life from the member (`isProgress`) each third of `silence`, and fails if nothing at all comes for
/// that long: the process was stopped, or the network is gone. (etcd's own notifications come each ten minutes, too
/// rarely to be of use.) 3.4 has bugs that lose events; a caller that must have them all reads the range from time to
/// time.
///
/// The body of the request stays open for those requests, so a proxy that waits for the whole body cannot be between.
package final class EtcdWatch: Sendable {
    private let configuration: EtcdConfiguration
    private let prefix: [UInt8]
    private let revision: UInt64
    private let silence: Duration
    private let canceller = CurlCanceller()

    /// - Parameters:
    ///   - revision: the first one whose changes are wanted; 0 for those that come from now on.
    ///   - silence: the time without a byte after which the watch fails.
    package init(
        _ configuration: EtcdConfiguration, prefix: [UInt8], from revision: UInt64, silence: Duration = .seconds(30)
    ) {
        (self.configuration, self.prefix, self.revision, self.silence) = (configuration, prefix, revision, silence)
    }

    /// Ends `run`, also one that begins later.
    package func cancel() { canceller.cancelForGood() }

    /// Calls the closure for each response, on this thread, until it returns false or `cancel` is called. The first
    /// response has no events: the watch stands, and `revision` is that of the store. Errors: `compacted`; `noAnswer`
    /// when the stream breaks; what a call of `EtcdClient` has, where no endpoint begins a watch. To be called by one
    /// thread at a time.
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
