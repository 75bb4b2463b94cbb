import FoundationEssentials
import GroupLocking
import GroupLog

/// What the services of a container have recorded about themselves.
struct ServicesFacts: Equatable, Sendable {
    /// The records, in the order of their names, each with whether its program runs.
    var services: [(record: ServiceRecord, isRunning: Bool)] = []

    static func == (one: Self, other: Self) -> Bool {
        one.services.elementsEqual(other.services) { $0 == $1 }
    }

    var findings: [Finding] {
        services.flatMap { record, isRunning in
            (isRunning ? record.findings : record.findingsAtRest).prefix(ServiceRecord.mostFindings).map { found in
                Finding(
                    service: found.code, Finding.Severity(rawValue: found.severity) ?? .note, item: found.item,
                    process: isRunning ? record.processIdentifier : nil, found.what, why: found.why,
                    remedy: found.remedy)
            }
        }
    }
}

extension ServicesFacts {
    /// Reads the records from their suite, without joining the container. Linear in the suite.
    init(_ container: CheckedContainer) {
        self.init()
        guard container.directory.storeNames(of: .suite).contains(ServiceRecord.suite),
            let suite = try? container.store(.suite, ServiceRecord.suite)
        else { return }
        var state = SuiteState()
        for (salvage, _) in suite.segments { _ = salvage.read { state.apply($0, at: $1, isControl: $2) } }
        for (_, entry) in state.entries.sorted(by: { $0.key < $1.key }) {
            guard let record = ServiceRecord(entry.value) else { continue }
            let isRunning = ContainerLock.services.contains(record.byte) && container.isHeld(record.byte)
            services.append((record, isRunning))
        }
    }
}

extension Container {
    /// Returns what the programs that work for the whole container report about themselves. System calls, where there
    /// are such: fcntl(F_OFD_GETLK) for each
    package func serviceFindings() -> [Finding] {
        guard opened.directory.storeNames(of: .suite).contains(ServiceRecord.suite),
            let suite = try? GroupDefaults(self, suite: ServiceRecord.suite)
        else { return [] }
        var facts = ServicesFacts()
        for (_, value) in suite.dictionaryRepresentation().sorted(by: { $0.key < $1.key }) {
            guard let record = ServiceRecord(value) else { continue }
            let isRunning =
                ContainerLock.services.contains(record.byte)
                && (try? HeldByte.isHeld(record.byte, opened.lockManager)) == true
            facts.services.append((record, isRunning))
        }
        return facts.findings
    }
}
