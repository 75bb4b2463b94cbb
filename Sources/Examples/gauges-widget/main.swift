import FoundationEssentials
import GroupCommandLine
import GroupContainer
import GroupSystemCalls
import WidgetCommands
import Widgets

// A widget of the machine, and not of an app: memory and disks as gauges. Nothing reports a change of these, so the
// widget's timeline requests a refresh each minute; a host grants a hidden widget only those of its budget.

struct MachineWidget: WidgetProvider {
    static let kind = "machine"
    /// The directory of `meminfo` and `pressure`.
    let proc: String
    var interests: [WidgetInterest] { [.defaults(Self.kind, key: GroupDefaults.Key.disks.name)] }
    var placeholder: WidgetView? { WidgetView(title: "Machine", lines: [.init("…", .secondary)]) }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let isExpanded = context.environment.displayMode == .expanded
        let disks = try GroupDefaults(context.container, suite: Self.kind)[.disks]
        var lines = [memory(isExpanded)] + disks.prefix(20).map { disk($0, isExpanded) }
        for (name, title) in [
            ("memory", "Memory wait"), ("io", "Disk wait"), ("cpu", "Processor wait"),
        ] {
            // Few people know these numbers: without room, they are shown only if they are high.
            if let percent = pressure(name), isExpanded || percent >= 10 { lines.append(Self.gauge(title, percent)) }
        }
        return WidgetView(title: "Machine", lines: Array(lines.prefix(max(1, context.environment.maximumSize.rows))))
    }

    /// Percents are whole numbers, so a refresh that finds about the same is `noData`, and nothing is drawn.
    func timeline(in context: WidgetContext) async throws -> Timeline<WidgetView> {
        Timeline(
            first: .init(snapshot: try await snapshot(in: context)),
            policy: .after(context.date.addingTimeInterval(60)))
    }

    private func memory(_ isExpanded: Bool) -> WidgetView.Line {
        var kibibytes: [Substring: Double] = [:]
        for line in text("meminfo").split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == ":" }
            if words.count >= 2, let number = UInt64(words[1]) { kibibytes[words[0]] = Double(number) }
        }
        guard let all = kibibytes["MemTotal"], let free = kibibytes["MemAvailable"], all > 0, free <= all else {
            return .init("Memory: \(proc)/meminfo does not say", .warning)
        }
        return Self.gauge("Memory", Self.percent(all - free, of: all), isExpanded ? Self.size(all * 1_024) : nil)
    }

    private func disk(_ path: String, _ isExpanded: Bool) -> WidgetView.Line {
        let name = path == "/" ? "Disk" : "Disk \(path)"
        guard let use = try? DiskUse(of: Array(path.utf8)) else { return .init("\(name): not there", .warning) }
        let all = Double(use.used) + Double(use.available)
        // A file system such as /proc has no size.
        if all == 0 { return .init("\(name): without a size", .secondary) }
        return Self.gauge(name, Self.percent(Double(use.used), of: all), isExpanded ? Self.size(all) : nil)
    }

    /// Returns the part of the last minute in which some process had to wait; nil where the kernel does not say.
    private func pressure(_ name: String) -> Int? {
        let words = text("pressure/\(name)").prefix { $0 != "\n" }.split(separator: " ")
        guard words.first == "some", let word = words.first(where: { $0.hasPrefix("avg60=") }),
            let percent = Double(word.dropFirst(6)), 0...100 ~= percent
        else { return nil }
        return Int(percent.rounded())
    }

    private func text(_ file: String) -> String {
        (try? String(contentsOfFile: "\(proc)/\(file)", encoding: .utf8)) ?? ""
    }

    private static func gauge(_ name: String, _ percent: Int, _ size: String? = nil) -> WidgetView.Line {
        .init(name, percent > 90 ? .warning : .normal, columns: size.map { [$0] }, gauge: Double(percent) / 100)
    }

    private static func percent(_ part: Double, of all: Double) -> Int { Int((part / all * 100).rounded()) }

    private static func size(_ bytes: Double) -> String {
        let gibibytes = bytes / 1_073_741_824
        return gibibytes < 1 ? "of \(Int((gibibytes * 1_024).rounded())) MiB" : "of \(Int(gibibytes.rounded())) GiB"
    }
}

extension GroupDefaults.Key<[String]> {
    /// A path on each disk that is shown.
    fileprivate static var disks: Self { Self("disks", default: ["/"]) }
}

WidgetCommand.main(
    name: "gauges-widget", summary: "Shows how full this machine's memory and disks are.",
    group: "group.com.example.machine",
    options: [
        .value("proc", "DIR", help: "Read meminfo and pressure in this directory; the default is /proc.")
    ]
) { arguments, _ in MachineWidget(proc: try arguments.text("proc") ?? "/proc") }
