import GroupBytes
package import GroupContainer
import GroupManifests
package import GroupSystemCalls

/// A host: one loop that waits for everything at once, passes events to `HostState`, and carries out the actions.
package struct WidgetHost<FrontEnd: HostFrontEnd & ~Copyable>: ~Copyable {
    package var frontEnd: FrontEnd
    var state: HostState
    let container: Container
    /// Its `wake` has the front end look whether something is due.
    package let poller: Poller
    let signals: SignalQueue
    let settings: HostSettings
    let views: ViewFiles
    let watch: ContainerWatch
    var requests: AppRequests?
    var pressure: MemoryPressure?
    var clock: WallClockWatch?
    var processes: [String: WidgetProcess] = [:]
    var openers: [OpeningProcess] = []
    /// The widget and stream of each descriptor.
    var owners: [Int32: (kind: String, stream: WidgetStream)] = [:]
    var surroundings = Surroundings()
    /// The events that are still to be handled, in order.
    var events: [HostEvent] = []
    var hasFinished = false
    private var endSignal: Int32?
    private var frontInput: Int32?
    /// The descriptor of output that the host waits to write, as its reader is slow.
    private var frontOutput: Int32?
    private var isInputAlwaysReady = false

    enum WidgetStream { case input, output, errors }

    /// Creates a host. `signals` has to be created before the container is opened, as opening starts threads.
    package init(
        _ container: Container, _ settings: HostSettings, signals: consuming SignalQueue, frontEnd: consuming FrontEnd
    ) throws {
        let poller = try Poller()
        let list = try settings.list()
        self.signals = signals
        self.frontEnd = frontEnd
        self.container = container
        self.settings = settings
        self.poller = poller
        views = settings.listFile.views
        var options = settings.options
        options.pressPrefix = Hexadecimal.encode(randomBytes(16))
        state = HostState(options, list: list)
        watch = ContainerWatch(container) { poller.wake() }
    }

    /// Runs until a user or a signal ends the host. Returns the signal, or nil.
    package mutating func run() throws -> Int32? {
        try begin()
        defer { requests?.end() }
        while !hasFinished {
            let now = Self.now
            for (descriptor, what) in try poller.ready(nanoseconds: wait(at: now)) { try serve(descriptor, what) }
            if isInputAlwaysReady, frontInput != nil { events += try frontEnd.readInput() }
            takeSignals()
            try takeChanges()
            let moment = Self.now
            resumeErrors(at: moment.monotonic)
            if surroundings.isDue(at: moment.monotonic) { try lookAround(at: moment) }
            checkMemory(at: moment.monotonic)
            if state.wait(at: moment) == 0 { events.append(.tick) }
            try handleEvents()
            requests?.show(state.today)
            try finishRound()
        }
        return endSignal
    }

    /// Gives the front end what is shown now, and ends a host for one refresh once that is over.
    private mutating func finishRound() throws {
        events += try frontEnd.finishRound(state.today, at: Self.now)
        if settings.isOnce, state.isQuiet, !state.isLeaving { events.append(.user(.quit)) }
        try handleEvents()
        try awaitFrontEnd()
    }

    /// Returns a signal that came after `run`, and is to end the process; nil for none.
    package func takeEndSignal() -> Int32? {
        while let signal = signals.next() {
            if [.interrupt, .terminate, .hangup, .quit].contains(signal) { return signal.rawValue }
        }
        return nil
    }

    static var now: Moment { Moment(monotonic: monotonicNanoseconds(), wall: wallNanoseconds()) }

    private mutating func begin() throws {
        try poller.add(signals.descriptor, for: .input)
        if let descriptor = surroundings.watch?.descriptor { try? poller.add(descriptor, for: .input) }
        pressure = Self.askForPressure()
        if let descriptor = pressure?.descriptor { try? poller.add(descriptor, for: .urgent) }
        clock = try WallClockWatch()
        if let descriptor = clock?.descriptor { try poller.add(descriptor, for: .input) }
        if !container.isReadOnly { requests = try AppRequests(container, watch) }
        try lookAround(at: Self.now)
        if surroundings.manifests == [] {
            let line = "no widgets are installed: there is no manifest (*.json) in \(settings.directories.names)"
            try frontEnd.log(HostLogLine(line, isFault: true), at: Self.now)
        }
        try handleEvents()
        // There may be nothing to wait for: no widget, or none that can be started.
        try finishRound()
    }

    private static func askForPressure() -> MemoryPressure? { try? MemoryPressure() }

    /// Returns how long until something is due, in nanoseconds; nil if nothing is.
    private func wait(at now: Moment) -> Int64? {
        if !events.isEmpty || isInputAlwaysReady && frontInput != nil { return 0 }
        if frontEnd.blockedOutput != frontOutput { return 0 }
        let errorLimit = processes.values.compactMap { process in
            process.errorLimit.pausedUntil.map { max(0, $0 - now.monotonic) }
        }
        let waits = [
            state.wait(at: now), frontEnd.wait(at: now), surroundings.wait(at: now.monotonic), errorLimit.min(),
            memoryWait(at: now.monotonic),
        ]
        return waits.compactMap { $0 }.min()
    }

    /// Registers the front end's input and output with the poller, as either may have changed or ended.
    private mutating func awaitFrontEnd() throws {
        awaitFrontOutput()
        if frontEnd.input == frontInput { return }
        if let old = frontInput { try? poller.change(old, to: []) }
        frontInput = frontEnd.input
        isInputAlwaysReady = false
        // A regular file cannot be polled: it is always ready. Each round reads a part, as there are files without an
        // end.
        if let new = frontInput {
            do throws(Errno) {
                try poller.add(new, for: .input)
            } catch {
                isInputAlwaysReady = true
            }
        }
    }

    private mutating func awaitFrontOutput() {
        if frontEnd.blockedOutput == frontOutput { return }
        if let old = frontOutput { try? poller.change(old, to: []) }
        frontOutput = nil
        // A regular file cannot be polled: it always has room.
        if let new = frontEnd.blockedOutput, (try? poller.add(new, for: .output)) != nil { frontOutput = new }
    }

    private mutating func serve(_ descriptor: Int32, _ what: Readiness) throws {
        if descriptor == frontInput {
            events += try frontEnd.readInput()
            return
        }
        if descriptor == surroundings.watch?.descriptor {
            surroundings.watch?.drain()
            return surroundings.noteChange(at: monotonicNanoseconds())
        }
        if descriptor == pressure?.descriptor { return events.append(.memoryPressure) }
        if descriptor == clock?.descriptor {
            try clock?.wait()
            return events.append(.clockSet)
        }
        guard let owner = owners[descriptor], let process = processes[owner.kind] else { return }
        switch owner.stream {
        case .output:
            try read(process)
            checkMemory(of: process)
        case .errors: try readErrors(process)
        case .input: flush(process)
        }
    }

    private mutating func takeSignals() {
        while let signal = signals.next() {
            switch signal {
            case .child: reap()
            case .userTwo: events.append(.memoryPressure)
            case .kill, .goOn, .stop: break  // Cannot be received.
            case .windowChanged: try? frontEnd.resize()
            case .interrupt, .terminate, .hangup, .quit:
                endSignal = signal.rawValue
                events.append(.user(.quit))
            }
        }
    }

    private mutating func takeChanges() throws {
        let found = watch.take()
        if found.isEmpty { return }
        if let end = found.end { throw end }
        for complaint in found.complaints {
            try frontEnd.log(HostLogLine(complaint, isFault: true), at: Self.now)
        }
        for address in found.unopened { try handToOpener(address) }
        if found.hasRequests { events += requests?.news(of: Array(state.manifestKinds)) ?? [] }
        if !found.changed.isEmpty { events.append(.changed(found.changed)) }
    }

    /// Handles all events, including those that the actions cause.
    mutating func handleEvents() throws {
        while !events.isEmpty {
            let batch = events
            events = []
            for event in batch {
                for action in state.handle(event, at: Self.now) { try carryOut(action) }
            }
        }
    }
}
