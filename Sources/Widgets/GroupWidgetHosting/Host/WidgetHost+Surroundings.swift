import GroupContainer
import GroupManifests
import GroupSystemCalls

/// Checks what users install and choose while the host runs, and the memory of the widgets.
extension WidgetHost where FrontEnd: ~Copyable {
    mutating func lookAround(at now: Moment) throws {
        surroundings.noteLook(at: now.monotonic)
        // Watched before it is read, so that no change is missed.
        watchSurroundings()
        let present = settings.directories.fingerprint()
        if present != surroundings.manifests {
            surroundings.manifests = present
            try readManifests(at: now)
        }
        let list = settings.listFile.identity
        if settings.shown == nil, surroundings.list != list {
            surroundings.list = list
            do throws(ListFile.Fault) {
                events.append(.list(try settings.listFile.read()))
            } catch {
                try frontEnd.log(HostLogLine(error.description, isFault: true), at: now)
            }
        }
        for (kind, process) in processes.sorted(by: { $0.key < $1.key }) {
            if let manifest = state.manifest(of: kind), let program = FileIdentity(program: manifest.executable),
                program != process.program
            {
                events.append(.executableReplaced(kind: kind))
            }
        }
        checkMemory()
    }

    /// Reads how much memory the widgets' processes have.
    private mutating func checkMemory() {
        for (_, process) in processes.sorted(by: { $0.key < $1.key }) { checkMemory(of: process) }
    }

    /// Reads how much memory a widget's process has. Besides the checks here, that is done whenever the widget has sent
    /// something, and every two seconds during an update.
    mutating func checkMemory(of process: WidgetProcess) {
        if let bytes = SupervisedProcess.residentMemory(of: process.identifier) {
            events.append(.process(process.run, .memory(bytes)))
        }
    }

    /// Checks the memory of widgets if that is due because one of them is being updated.
    mutating func checkMemory(at now: Int64) {
        if memoryWait(at: now) != 0 { return }
        surroundings.memoryCheckedAt = now
        checkMemory()
    }

    /// Returns how long until `checkMemory(at:)` is due, in nanoseconds; nil while no widget is being updated.
    func memoryWait(at now: Int64) -> Int64? {
        state.isUpdating ? max(0, surroundings.memoryCheckedAt + Surroundings.period - now) : nil
    }

    private func watchSurroundings() {
        let programs = processes.keys.compactMap { state.manifest(of: $0) }
            .compactMap { FileIdentity(program: $0.executable)?.path }
        surroundings.watch?.watch(settings.directories.watchedPaths + settings.listFile.watchedPaths + programs)
    }

    private mutating func readManifests(at now: Moment) throws {
        var found = settings.directories.read()
        if found.isIncomplete {
            // What cannot be read now need not be gone: the widgets stay.
            surroundings.noteUnread()
            let read = Set(found.manifests.map(\.kind))
            found.manifests += state.manifestKinds.filter { !read.contains($0) }.compactMap(state.manifest(of:))
        }
        if let shown = settings.shown { found.manifests.removeAll { !shown.contains($0.kind) } }
        let mistakes = found.errors + found.findings
        for error in mistakes where surroundings.complaints.insert(error).inserted {
            try frontEnd.log(HostLogLine("\(error)", isFault: true), at: now)
        }
        // Mistakes that were corrected are forgotten, so that they are logged again if they come back.
        surroundings.complaints.formIntersection(mistakes)
        // Following makes a suite that is missing: it is missed before.
        let known = Set(state.manifestKinds)
        let new = found.manifests.map(\.kind).filter { !known.contains($0) }
        for manifest in found.manifests where new.contains(manifest.kind) {
            for interest in manifest.interests {
                guard let doubt = interest.doubt(in: container, among: manifest.interests) else { continue }
                try frontEnd.log(HostLogLine("its interests: \(doubt)", of: manifest.kind, isFault: true), at: now)
            }
        }
        // Before the manifests are installed, so that no change after a widget's first refresh is missed.
        try watch.follow(state.interests(with: found.manifests))
        var shown: [String: LastView] = [:]
        for kind in new { shown[kind] = views.read(kind) }
        events += [.ledgers(ledgers(of: new)), .lastViews(shown), .manifests(found.manifests)]
        events += requests?.news(of: new) ?? []
    }

    /// Reads ledgers. A damaged ledger is put aside, and counts as none.
    private func ledgers(of kinds: [String]) -> [String: RefreshLedger] {
        var ledgers: [String: RefreshLedger] = [:]
        if container.isReadOnly { return ledgers }
        for kind in kinds {
            guard let file = try? RefreshLedger.file(ofKind: kind, in: container),
                let holding = try? file.holdBlocking("read what refreshes cost", timeout: .seconds(1))
            else { continue }
            defer { holding.end() }
            ledgers[kind] = try? RefreshLedger(file)
        }
        return ledgers
    }
}
