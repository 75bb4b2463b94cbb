public import GroupContainer
import GroupSystemCalls

/// A provider as a process of its own: shown by a host, or by itself.
///
///     let container = try Container(group: "group.com.example.todo")
///     try await WidgetProgram(TodoWidget(), in: container).converse()
public struct WidgetProgram<Provider: WidgetProvider>: Sendable where Provider.Snapshot: WidgetContent {
    package let provider: Provider
    let container: Container
    let clock: any WidgetClock

    /// Of a container. `clock` is where it has the time from.
    public init(_ provider: Provider, in container: Container, clock: any WidgetClock = SystemWidgetClock()) {
        (self.provider, self.container, self.clock) = (provider, container, clock)
    }

    /// Speaks with a host, over this process's standard input and output, until the host says that it is to end. What
    /// the process prints meanwhile goes to standard error. Before it is suspended it gives back its lock, and ends the
    /// refresh that is going on. Throws what is wrong with the streams; what is wrong with a refresh is its answer.
    public func converse() async throws {
        _ = container.coordinator(purpose: provider.kind)
        let link = try HostLink()
        try link.say(
            .hello(version: WidgetMessage.version, kind: provider.kind, placeholder: provider.placeholder?.view))
        var update: Task<Void, Never>?
        // What the host has been told to show: what another process renders of the same kind is news to it.
        let told = Guarded<[UInt8]?>(nil)
        for await message in link.messages {
            switch message {
            case .update(let id, let environment, let deadline, let shows, let reloads):
                let previous = update
                update = Task {
                    await previous?.value
                    let answer = await answer(id, environment, deadline, shows: shows, reloads: reloads, told)
                    try? link.say(.answer(answer))
                }
            case .suspend(let id):
                update?.cancel()
                await update?.value
                update = nil
                try link.say(.suspended(id: id))
            case .resume: break
            case .end:
                update?.cancel()
                return
            }
        }
        update?.cancel()
    }

    private func answer(
        _ id: Int, _ environment: WidgetEnvironment, _ deadline: Double, shows: Bool, reloads: Bool,
        _ told: Guarded<[UInt8]?>
    ) async -> WidgetMessage.Answer {
        var answer = WidgetMessage.Answer(id: id, result: .failed)
        let cause = Guarded<String?>(nil)
        let time = Duration.nanoseconds(Int64(clampedSeconds: deadline))
        let refresh = Refresh(
            provider, in: container, environment: environment, timeout: time, deadline: time, clock: clock
        ) { error in cause.withLock { $0 = "\(error)" } }
        do {
            let shown = shows ? nil : told.withLock { $0 }
            answer.result = try await refresh.update(isReload: reloads, unlike: shown) { timeline, rendered in
                answer.timeline = timeline.map(\.view)
                told.withLock { $0 = rendered }
            }
            // To the widget it is not new, as it lies in the container already; to the host it is.
            if answer.timeline != nil && !shows { answer.result = .newData }
            answer.cause = cause.withLock { $0 }
        } catch {
            answer = WidgetMessage.Answer(id: id, result: .failed, cause: "\(error)")
        }
        return answer
    }
}

extension Int64 {
    /// In nanoseconds; nothing is less than none.
    init(clampedSeconds seconds: Double) {
        self = seconds.isNaN ? 0 : Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? 0 : .max)
        self = Swift.max(0, self)
    }
}
