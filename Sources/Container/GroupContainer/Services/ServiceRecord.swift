import FoundationEssentials
import GroupSystemCalls

/// What a program that works for the whole container has recorded about itself: for `groupctl doctor`, whether it runs
/// or not, and for members that leave something to it. Other members can write the record: each field is checked where
/// it is used.
package struct ServiceRecord: Codable, Equatable, Sendable {
    /// A finding of the service, in the words that the doctor prints.
    package struct Finding: Codable, Equatable, Sendable {
        /// Its name, for scripts.
        package var code: String
        /// `error`, `warning` or `note`.
        package var severity: String
        package var item: String?
        package var what: String
        package var why: String
        package var remedy: String

        package init(
            _ code: String, _ severity: GroupContainer.Finding.Severity, item: String? = nil, _ what: String,
            why: String, remedy: String
        ) {
            self.code = code
            self.severity = severity.rawValue
            self.item = item
            self.what = what
            self.why = why
            self.remedy = remedy
        }
    }

    /// The byte of the lock file that the program holds while it runs: see `SoleProcess.Work`.
    package var byte: Int64
    package var processIdentifier: Int32
    /// What is to be found while the program runs.
    package var findings: [Finding]
    /// What is to be found while it does not run.
    package var findingsAtRest: [Finding]
    /// The suite from which the program takes the messages of channels whose places it decides.
    package var relay: String?

    package init(
        byte: Int64, processIdentifier: Int32, findings: [Finding], findingsAtRest: [Finding], relay: String?
    ) {
        self.byte = byte
        self.processIdentifier = processIdentifier
        self.findings = findings
        self.findingsAtRest = findingsAtRest
        self.relay = relay
    }

    /// The suite of the services' records, by their names.
    static let suite = "group-container.services"
    /// The most findings of a service that are read.
    static let mostFindings = 100

    /// Sets or removes the record of a service. Errors: those of `GroupDefaults.set`
    package static func set(
        _ record: ServiceRecord?, of service: String, in container: Container
    ) throws(CoordinationError) {
        let suite = try GroupDefaults(container, suite: suite)
        guard let record else { return try suite.removeValue(forKey: service) }
        let value = DefaultsValue.json(try json(record))
        if suite.value(forKey: service) != value { try suite.set(value, forKey: service) }
    }

    /// Returns the suite of the service that decides about the places of messages; nil where there is none.
    static func relay(of container: Container) -> String? {
        guard container.opened.directory.storeNames(of: .suite).contains(suite),
            let suite = try? GroupDefaults(container, suite: suite)
        else { return nil }
        let records = suite.dictionaryRepresentation().values.compactMap(ServiceRecord.init)
        return records.compactMap(\.relay).filter(Container.isOwnName).min()
    }

    init?(_ value: DefaultsValue) {
        guard case .json(let bytes) = value,
            let record = try? JSONDecoder().decode(ServiceRecord.self, from: Data(bytes))
        else { return nil }
        self = record
    }

    static func json(_ value: some Encodable) throws(CoordinationError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(value))
        } catch {
            throw CoordinationError(.invalidContent, operation: "record", reason: "\(error)", cause: error)
        }
    }
}
