import Dispatch
import GroupBytes
import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The requests of apps to the widgets, and the registry of present widgets for apps.
final class AppRequests {
    private let center: WidgetCenter
    private let registration: HostRegistration
    private var shown: [PresentWidget] = []
    private let watch: ContainerWatch
    private let opening = OpeningQueues()
    private let process = HostIdentity.process

    init(_ container: Container, _ watch: ContainerWatch) throws(CoordinationError) {
        self.watch = watch
        center = try WidgetCenter(container)
        registration = try HostRegistration(center)
        try watch.followRequests(center)
    }

    /// Returns the number of the last reload request for each kind that has one, and whether an app is in front.
    func news(of kinds: [String]) -> [HostEvent] {
        var reloads: [String: UInt64] = [:]
        for kind in kinds { reloads[kind] = try? center.reloads(ofKind: kind) }
        let isInFront = (try? center.isAppInFront()) ?? false
        return [.reloads(reloads.filter { $0.value > 0 }), .appInFront(isInFront)]
    }

    /// Registers what is shown now, if it has changed.
    func show(_ today: TodayModel) {
        let present = today.panels.map { panel in
            PresentWidget(
                kind: panel.kind, isVisible: panel.isVisible, displayMode: panel.displayMode, hostProcess: process)
        }
        if present == shown { return }
        shown = present
        try? registration.show(present)
    }

    /// Opens a URL with the app that has registered its scheme, on another thread, as that app may have to be started.
    /// The watch gets URLs that no app of the container opens, and errors.
    func open(_ url: String, for kind: String) {
        opening.add(AppLink.scheme(of: url) ?? "") { [center, watch] in
            do throws(CoordinationError) {
                var reason = ""
                switch try center.open(url, refused: { reason = $0 }) {
                case .opened: break
                case .refused:
                    let cause = "its app refused '\(url)': \(PipeText.escaped(Array(reason.utf8)))"
                    watch.note { $0.complaints.append("\(kind): \(cause)") }
                case .noApp: watch.note { $0.unopened.append(ContainerWatch.Address(url: url, kind: kind)) }
                case .queued:
                    let cause = "its app has not taken '\(url)' in time; the address stays in the app's queue"
                    watch.note { $0.complaints.append("\(kind): \(cause)") }
                }
            } catch {
                watch.note { $0.complaints.append("\(kind): \(error)") }
            }
        }
    }

    func end() { try? registration.end() }
}

/// Queues for opening URLs, which may take long. URLs of one scheme are opened in their order; an app that does not
/// answer does not delay those of other schemes.
final class OpeningQueues: Sendable {
    /// The queues of schemes with URLs to open.
    private let queues = Guarded([String: (queue: DispatchQueue, count: Int)]())

    func add(_ scheme: String, _ open: @escaping @Sendable () -> Void) {
        let queue = queues.withLock { queues in
            let queue = queues[scheme]?.queue ?? DispatchQueue(label: "widget-host.open.\(scheme)")
            queues[scheme] = (queue, (queues[scheme]?.count ?? 0) + 1)
            return queue
        }
        queue.async {
            open()
            self.end(scheme)
        }
    }

    private func end(_ scheme: String) {
        queues.withLock { queues in
            guard let (queue, count) = queues[scheme] else { return }
            queues[scheme] = count > 1 ? (queue, count - 1) : nil
        }
    }
}
