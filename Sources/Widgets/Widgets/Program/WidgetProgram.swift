import GroupBytes
public import GroupContainer
import GroupProtocolLines
import GroupSystemCalls

/// A provider as a process of its own, with a host or without one.
///
///     let container = try Container(group: "group.com.example.todo")
///     try await WidgetProgram(TodoWidget(), in: container).converse()
public struct WidgetProgram<Provider: WidgetProvider>: Sendable where Provider.Snapshot: WidgetContent {
    package let provider: Provider
    let container: Container
    let clock: any WidgetClock

    /// Creates the program for a container. `clock` is its source of time.
    public init(_ provider: Provider, in container: Container, clock: any WidgetClock = SystemWidgetClock()) {
        self.provider = provider
        self.container = container
        self.clock = clock
    }

    /// Exchanges messages with a host, over this process's standard input and output, until the host ends it. Other
    /// output of the process goes to standard error. Before a suspension, the program cancels the refresh in progress,
    /// which releases its lock. Throws errors of the streams; an error of a refresh is part of its answer.
    public func converse() async throws {
        _ = container.coordinator(purpose: provider.kind)
        let link = try HostLink()
        try link.send(
            WidgetMessage.hello(
                version: WidgetMessage.version, kind: provider.kind, placeholder: provider.placeholder?.view,
                interests: provider.interests.map(\.text)))
        var update: Task<Void, Never>?
        // The encoded timeline that the host got last. A different timeline that another process has rendered is new to
        // the host.
        let shownBefore = Guarded<[UInt8]?>(nil)
        for await line in link.lines {
            // A newer host may send messages that this version cannot decode; they are ignored.
            guard let message = ProtocolLine.decoded(HostMessage.self, from: line) else { continue }
            switch message {
            case .update(let id, let environment, let deadline, let shows, let reloads, let appears):
                let previous = update
                update = Task {
                    await previous?.value
                    let answer = await answer(
                        id, environment, deadline, shows: shows, reloads: reloads, appears: appears, shownBefore)
                    try? link.send(WidgetMessage.answer(answer))
                }
            case .press(let id, let press, let asks, let deadline):
                let previous = update
                update = Task {
                    await previous?.value
                    let (result, cause) = await perform(press, asks: asks, deadline)
                    try? link.send(WidgetMessage.pressed(id: id, result, cause: cause))
                }
            case .suspend(let id):
                update?.cancel()
                await update?.value
                update = nil
                try link.send(WidgetMessage.suspended(id: id))
            case .resume: break
            case .end:
                update?.cancel()
                // The answer to a press still counts.
                await update?.value
                return
            }
        }
        update?.cancel()
    }

    /// Performs a press, or looks whether it was performed.
    private func perform(_ press: WidgetPress, asks: Bool, _ deadline: Double) async -> (PressResult, cause: String?) {
        let coordinator = container.coordinator(purpose: provider.kind)
        let time = Duration.nanoseconds(Int64(clampedSeconds: deadline))
        var cause: String?
        let hasChanges = Guarded(false)
        if !asks {
            do {
                try await provider.perform(press, by: coordinator, timeout: time) { hasChanges.withLock { $0 = true } }
                return (.done, nil)
            } catch {
                cause = failureText(error)
                if !hasChanges.withLock({ $0 }) { return (.notDone, cause) }
            }
        }
        // The error may be about the time after the change, such as a disk that does not confirm it. The host waits for
        // two seconds more than the deadline.
        do {
            let isDone = try await provider.hasPerformed(press, by: coordinator, timeout: asks ? time : .seconds(1))
            return isDone ? (.done, nil) : (.notDone, cause)
        } catch {
            return (.unknown, cause ?? failureText(error))
        }
    }

    private func answer(
        _ id: Int, _ environment: WidgetEnvironment, _ deadline: Double, shows: Bool, reloads: Bool, appears: Bool,
        _ shownBefore: Guarded<[UInt8]?>
    ) async -> WidgetMessage.Answer {
        var answer = WidgetMessage.Answer(id: id, result: .failed)
        let cause = Guarded<String?>(nil)
        let time = Duration.nanoseconds(Int64(clampedSeconds: deadline))
        var refresh = WidgetRefresh(
            provider, in: container, environment: environment, timeout: time, timeLimit: time, clock: clock
        ) { error in cause.withLock { $0 = failureText(error) } }
        refresh.hasOwnProcess = true
        refresh.appears = appears
        do {
            let shown = shows ? nil : shownBefore.withLock { $0 }
            let outcome = try await refresh.update(
                isReload: reloads || (appears && provider is any AppearingProvider), unlike: shown
            ) { timeline, rendered in
                answer.timeline = timeline.map(\.view)
                shownBefore.withLock { $0 = rendered }
            }
            answer.result = outcome.result
            if outcome.result == .noData, answer.timeline == nil { answer.policy = outcome.policy }
            // The result is `noData`, as the snapshot is in the container already, but it is new to the host.
            if answer.timeline != nil && !shows { answer.result = .newData }
            answer.cause = cause.withLock { $0 }
        } catch {
            answer = WidgetMessage.Answer(id: id, result: .failed, cause: failureText(error))
        }
        return answer
    }
}

extension WidgetProgram {
    /// Performs what a press requests, without a host: for a program that a click in a bar starts. Throws what the
    /// provider throws, and then nothing was changed; errors of `Coordinator.transaction`.
    public func perform(
        _ action: WidgetAction, timeout: Duration? = Coordinator.lockTimeout
    ) async throws {
        let press = WidgetPress(name: Hexadecimal.encode(randomBytes(16)), action: action)
        try await provider.perform(press, by: container.coordinator(purpose: provider.kind), timeout: timeout)
    }

    /// Performs the press of a line of what the widget showed last, counted from 1: for a bar whose clicks know no more
    /// than that. Throws `PressRefusal` where the line is no button and no toggle; what `perform(_:timeout:)` throws.
    public func perform(line: Int, timeout: Duration? = Coordinator.lockTimeout) async throws {
        let last = try await WidgetRefresh(provider, in: container, timeout: timeout, clock: clock).last()
        let lines = last?.timeline.entry(at: clock.date)?.snapshot.view.lines ?? []
        guard line > 0, line <= lines.count, let control = lines[line - 1].control else {
            throw PressRefusal("line \(line) of \(provider.kind) is no button and no toggle")
        }
        try await perform(control.action, timeout: timeout)
    }
}

extension Int64 {
    /// Converts seconds to nanoseconds; a negative number becomes 0.
    init(clampedSeconds seconds: Double) {
        self = seconds.isNaN ? 0 : Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? 0 : .max)
        self = Swift.max(0, self)
    }
}

/// Returns an error of a provider's code in words for the person who looks at its panel.
func failureText(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    return "it has read something that it cannot decode: \(error.fault { true })"
}
