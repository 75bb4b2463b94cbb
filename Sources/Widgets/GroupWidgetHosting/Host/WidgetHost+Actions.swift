import GroupContainer
import GroupProtocolLines
import GroupSystemCalls

/// A process that opens an address.
final class OpeningProcess {
    let process: SupervisedProcess
    init(_ process: consuming SupervisedProcess) { self.process = process }
}

extension WidgetHost where FrontEnd: ~Copyable {
    mutating func carryOut(_ action: HostAction) throws {
        let now = Self.now
        switch action {
        case .start(let run, let manifest): try start(run, manifest)
        case .send(let run, let message): try send(run, message)
        case .stop(let run): processes[run.kind]?.process.signal(.stop)
        case .goOn(let run): processes[run.kind]?.process.signal(.goOn)
        case .kill(let run): processes[run.kind]?.process.signal(.kill)
        case .findHoldings(let run): events.append(.process(run, .holds(holdings(of: run))))
        case .open(let url, let kind): try open(url, for: kind)
        case .log(let line): try frontEnd.log(line, at: now)
        case .redraw(let panel): try frontEnd.redraw(panel, at: now)
        case .rearrange: try frontEnd.rearrange(state.today, at: now)
        case .save(let list): try save(list)
        case .keep(let ledger, let kind): try keep(ledger, kind)
        case .remember(let view, let kind): try remember(view, kind)
        case .followInterests: try watch.follow(state.interests)
        case .finished: hasFinished = true
        }
    }

    private mutating func start(_ run: WidgetRun, _ manifest: WidgetManifest) throws {
        let variables: [(name: String, value: [UInt8])] = [
            ("GROUP_CONTAINER", container.path.bytes), ("WIDGET_KIND", Array(run.kind.utf8)),
        ]
        do throws(Errno) {
            let process = try WidgetProcess(
                run, manifest, variables: variables, inForeground: settings.options.isForDebugging)
            processes[run.kind] = process
            if let number = process.output?.number { attend(number, run.kind, .output) }
            if let number = process.errors?.number { attend(number, run.kind, .errors) }
            events.append(.process(run, .started(processIdentifier: process.identifier)))
        } catch {
            return events.append(.process(run, .notStarted("'\(manifest.executable)': \(error)")))
        }
        if let process = processes[run.kind] { try frontEnd.started(run, processIdentifier: process.identifier) }
    }

    private mutating func attend(_ number: Int32, _ kind: String, _ stream: WidgetStream) {
        owners[number] = (kind, stream)
        try? poller.add(number, for: stream == .input ? .output : .input)
    }

    private mutating func send(_ run: WidgetRun, _ message: HostMessage) throws {
        guard let process = processes[run.kind], process.run == run, let line = ProtocolLine.encoded(message) else {
            return
        }
        try frontEnd.traffic(run, isFromWidget: false, line)
        if !process.send(line) { return events.append(.process(run, .inputFull)) }
        flush(process)
    }

    /// Writes as many bytes as the pipe has room for. For the rest, registers the pipe with the poller.
    mutating func flush(_ process: WidgetProcess) {
        let number = process.input.number
        let waits = process.flush()
        if waits == (owners[number] != nil) { return }
        if waits {
            attend(number, process.run.kind, .input)
        } else {
            forget(number)
        }
    }

    private mutating func forget(_ number: Int32?) {
        guard let number, owners.removeValue(forKey: number) != nil else { return }
        try? poller.change(number, to: [])
    }

    mutating func read(_ process: WidgetProcess) throws {
        let number = process.output?.number
        for (event, line) in process.read() {
            if !line.isEmpty { try frontEnd.traffic(process.run, isFromWidget: true, line) }
            if event == .outputEnded { forget(number) }
            events.append(.process(process.run, event))
        }
    }

    mutating func readErrors(_ process: WidgetProcess) throws {
        let number = process.errors?.number
        for line in process.readErrors(at: Self.now.monotonic) {
            events.append(.process(process.run, .complained(line)))
        }
        if process.errors == nil || process.errorLimit.pausedUntil != nil { forget(number) }
    }

    /// Reads standard error again, of the processes whose pause is over.
    mutating func resumeErrors(at now: Int64) {
        for (kind, process) in processes where process.errorLimit.endsPause(at: now) {
            if let number = process.errors?.number { attend(number, kind, .errors) }
        }
    }

    /// Collects the events of child processes.
    mutating func reap() {
        openers.removeAll { opener in
            guard let event = opener.process.nextEvent() else { return false }
            return event != .stopped
        }
        for (kind, process) in processes {
            while processes[kind] != nil, let event = process.process.nextEvent() { note(event, of: process) }
        }
    }

    private mutating func note(_ event: SupervisedProcess.Event, of process: WidgetProcess) {
        let run = process.run
        let end: ProcessEnd
        switch event {
        case .stopped: return events.append(.process(run, .stopped))
        case .exited(let status): end = .status(status)
        case .killed(let signal): end = .signal(signal)
        }
        // The last messages before the end still count.
        try? read(process)
        try? readErrors(process)
        for number in [process.input.number, process.output?.number, process.errors?.number] { forget(number) }
        processes[run.kind] = nil
        events.append(.process(run, .exited(end)))
    }

    private mutating func open(_ url: String, for kind: String) throws {
        try frontEnd.log(HostLogLine("open \(url)", of: kind), at: Self.now)
        if let requests { return requests.open(url, for: kind) }
        try handToOpener(ContainerWatch.Address(url: url, kind: kind))
    }

    mutating func handToOpener(_ address: ContainerWatch.Address) throws {
        do throws(Errno) {
            let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .readingAndWriting)
            openers.append(
                OpeningProcess(
                    try SupervisedProcess(
                        [Array(settings.opener.utf8), Array(address.url.utf8)], variables: [], input: nothing,
                        output: nothing))
            )
        } catch {
            let line = HostLogLine("cannot run '\(settings.opener)': \(error)", of: address.kind, isFault: true)
            try frontEnd.log(line, at: Self.now)
        }
    }

    private mutating func save(_ list: ShownList) throws {
        if settings.shown != nil { return }
        do throws(ListFile.Fault) {
            try settings.listFile.write(list)
            surroundings.list = settings.listFile.identity
        } catch {
            try frontEnd.log(HostLogLine(error.description, isFault: true), at: Self.now)
        }
    }

    private mutating func remember(_ view: LastView, _ kind: String) throws {
        do throws(Errno) {
            try views.write(view, kind)
        } catch {
            let line = HostLogLine("its view cannot be kept: \(error)", of: kind)
            try frontEnd.log(line, at: Self.now)
        }
    }

    /// Stores a ledger, without waiting for the lock: another host of the same widget may be writing, and its ledger is
    /// equally good.
    private mutating func keep(_ ledger: RefreshLedger, _ kind: String) throws {
        if container.isReadOnly { return }
        do throws(CoordinationError) {
            let file = try RefreshLedger.file(ofKind: kind, in: container)
            let holding = try file.holdBlocking("note a refresh", timeout: .zero)
            defer { holding.end() }
            try ledger.write(file)
        } catch {
            if error.code == .lockTimedOut { return }
            try frontEnd.log(HostLogLine("\(error)", of: kind, isFault: true), at: Self.now)
        }
    }
}
