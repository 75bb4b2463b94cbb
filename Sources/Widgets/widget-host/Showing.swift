import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupManifests
import GroupSystemCalls
import GroupWidgetHosting
import Widgets

extension CommandRun {
    /// Returns the container, opened under the purpose of this process, and the settings of the host, from the options.
    func host() throws -> (container: Container, settings: HostSettings) {
        let container = try openContainer()
        _ = container.coordinator(purpose: options.purpose)
        let directory = try arguments.text("widgets")
        if let directory, FileIdentity(path: Array("\(directory)/.".utf8)) == nil {
            throw arguments.usageError(
                "--widgets \(PipeText.escaped(Array(directory.utf8))): there is no such directory")
        }
        var settings = try HostSettings(container, directories: ManifestDirectories<WidgetManifest>(directory))
        if let grace = try arguments.time("grace") { settings.options.grace = grace.nanoseconds }
        if let opener = try arguments.text("opener") { settings.opener = opener }
        if let kinds = try arguments.text("show") {
            let shown = kinds.split(separator: ",").map(String.init)
            if shown.isEmpty { throw arguments.usageError("--show: the kinds are missing") }
            settings.shown = shown
        }
        settings.isOnce = arguments.flag("once")
        return (container, settings)
    }

    /// Returns the queue of signals. Call this before the container is opened: a thread that was started earlier would
    /// receive the signals with their usual effect.
    func signals() throws(Errno) -> SignalQueue {
        try SignalQueue([.child, .userTwo, .interrupt, .terminate, .hangup, .quit])
    }

    /// Returns whether all kinds are installed, and reports those that are not.
    func areKnown(_ kinds: [String], _ settings: HostSettings) -> Bool {
        let found = settings.directories.read()
        let known = found.manifests.map(\.kind)
        let unknown = kinds.filter { !known.contains($0) }
        // Each of these may be the one that is missing.
        for error in unknown.isEmpty ? [] : found.errors { complain("\(error)", .damaged) }
        for kind in unknown {
            let nearest = NearestName.among(known, to: kind).map { "; did you mean '\($0)'?" } ?? ""
            complain(
                "there is no widget '\(PipeText.escaped(Array(kind.utf8)))' in \(settings.directories.names)\(nearest)",
                .notFound)
        }
        return unknown.isEmpty
    }

    /// Returns the KIND arguments.
    func kinds() throws(UsageError) -> [String] {
        var kinds: [String] = []
        for word in arguments.positionals("KIND") {
            guard let kind = word.validText else { throw arguments.usageError("KIND is not valid UTF-8") }
            kinds.append(kind)
        }
        return kinds
    }
}

/// Shows the widgets on the list, or those of `--show`, until the user or a signal ends the host.
func show(_ run: inout CommandRun) throws -> ExitStatus {
    let signals = try run.signals()
    let (container, settings) = try run.host()
    if let shown = settings.shown, !run.areKnown(shown, settings) { return .notFound }
    if TodayFrontEnd.isWanted(run.options, isOnce: settings.isOnce) {
        return try showToday(run, container, settings, signals)
    }
    var host = try WidgetHost(
        container, settings, signals: signals, frontEnd: PlainLines(run.options, isOnce: settings.isOnce))
    run.output.whenReaderIsGone(host.poller.wake)
    let signal = try host.run()
    try host.frontEnd.end(at: Moment(monotonic: monotonicNanoseconds(), wall: wallNanoseconds()))
    if settings.isOnce {
        host.frontEnd.keepAll()
        // The reader may be slow; the signals are in the queue, and end no write.
        while try !host.frontEnd.flush() {
            if let signal = host.takeEndSignal() { return .signal(signal) }
        }
    }
    let found = settings.directories.read()
    if settings.isOnce, !found.manifests.isEmpty, try settings.list().kinds(among: found.manifests.map(\.kind)).isEmpty
    {
        run.complain("no widget is on the list of shown widgets; 'widget-host add' adds one")
    }
    if let signal { return .signal(signal) }
    // The host has said so.
    if settings.isOnce, found.errors.isEmpty, found.manifests.isEmpty { return .notFound }
    if host.frontEnd.hasTimedOut { return .timedOut }
    // Where the widgets were not named, the one of a manifest that cannot be read may be among them.
    if settings.isOnce, settings.shown == nil, !found.errors.isEmpty { return .damaged }
    return settings.isOnce && host.frontEnd.hasFaults ? .failure : .success
}

/// Shows the widgets as a view in the terminal.
private func showToday(
    _ run: borrowing CommandRun, _ container: Container, _ settings: HostSettings, _ signals: consuming SignalQueue
) throws -> ExitStatus {
    var settings = settings
    let view = try TodayFrontEnd(run.options, settings.directories)
    settings.options.rooms = view.rooms
    var host = try WidgetHost(container, settings, signals: signals, frontEnd: view)
    return try host.run().map { .signal($0) } ?? .success
}

/// Runs one widget alone.
func runAlone(_ run: inout CommandRun) throws -> ExitStatus {
    let signals = try run.signals()
    var (container, settings) = try run.host()
    settings.shown = try run.kinds()
    settings.options.isForDebugging = true
    if !run.areKnown(settings.shown ?? [], settings) { return .notFound }
    var host = try WidgetHost(
        container, settings, signals: signals, frontEnd: PlainLines(run.options, isForDebugging: true))
    run.output.whenReaderIsGone(host.poller.wake)
    let signal = try host.run()
    if let signal { return .signal(signal) }
    return host.frontEnd.hasFaults ? .failure : .success
}
