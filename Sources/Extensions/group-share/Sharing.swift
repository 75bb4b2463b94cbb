import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import Widgets

/// Prints the extensions that take the items; without items, all. Standard error has why the others do not.
func list(_ run: inout CommandRun, _ host: ExtensionHost, _ items: [ExtensionItem]) throws -> ExitStatus {
    let point = try run.arguments.text("point")
    let installed = host.installed()
    for fault in installed.faults { run.complain(fault) }
    var count = 0
    var refusals: [String] = []
    for manifest in installed.extensions where point == nil || manifest.point.rawValue == point {
        if !items.isEmpty, let refusal = manifest.refusal(of: items) {
            refusals.append("\(manifest.identifier): \(refusal)")
            continue
        }
        count += 1
        if run.options.isJSON {
            let types = manifest.rule.entries.map { ("\($0.pattern)", JSONValue.integer(Int64($0.maximum))) }
            let object = JSONValue.object([
                ("identifier", .string(manifest.identifier)), ("point", .string(manifest.point.rawValue)),
                ("title", .string(manifest.title)), ("types", .object(types)),
                ("executable", .string(manifest.executable)), ("group", manifest.group.map { .string($0) } ?? .null),
            ])
            try run.output.writeLine(object.encoded())
        } else {
            let fields = [manifest.identifier, manifest.point.rawValue, manifest.title]
            try run.output.writeLine(TerminalName.line(of: fields))
        }
    }
    for refusal in refusals {
        if count == 0 { run.complain(refusal) } else { run.explain(refusal) }
    }
    if count == 0 {
        run.complain(items.isEmpty ? "no extension is installed" : "no extension takes these items", .notFound)
    }
    return count == 0 ? .notFound : .success
}

/// Runs an extension, and prints what it returns.
func share(
    _ run: inout CommandRun, _ host: ExtensionHost, _ manifest: ExtensionManifest, _ items: [ExtensionItem]
) throws -> ExitStatus {
    let urls = Guarded<[URL]>([])
    let isVerbose = run.options.isVerbose
    let signals = TerminationSignals()
    let request = host.begin(
        manifest, items, deadline: run.options.timeout ?? .seconds(300),
        log: { line in
            if isVerbose { _ = StandardOutput.writeNow(Array("\(PipeText.escaped(Array(line.utf8)))\n".utf8), to: 2) }
        },
        open: { url in urls.withLock { $0.append(url) } })
    try WorkThread.start {
        while signals.received == nil { signals.wait(nanoseconds: .max) }
        request.cancel()
    }
    let result = request.blocking.result()
    // Without it, nothing of it is opened or named; the result says why it is not there.
    let container = manifest.group.flatMap { try? Container(named: Array($0.utf8), timeout: run.lockTimeout) }
    for url in urls.withLock({ $0 }) { try open(url, in: container, &run) }
    if run.options.isJSON {
        guard let line = ResultLine.encoded(result) else { return .failure }
        try run.output.write(line + [UInt8(ascii: "\n")])
    }
    switch result {
    case .completed(let items):
        if !run.options.isJSON { for item in items { try print(item, in: container, &run) } }
        let others = items.flatMap(\.attachments).compactMap { attachment in
            if case .item(let path) = attachment.content, !isItem(path, of: container) { path } else { nil }
        }
        for path in others {
            run.complain(
                "\(manifest.identifier) returned '\(path)', which is no item of its group's container", .invalidContent)
        }
        return others.isEmpty ? .success : .failure
    case .cancelled(let error):
        if !run.options.isJSON { run.complain("\(manifest.identifier): \(PipeText.escaped(Array(error.text.utf8)))") }
        return .noData
    case .failed(let failure):
        if let signal = signals.received { return .signal(signal) }
        if !run.options.isJSON {
            let lines = "\(failure)".split(separator: "\n").map { PipeText.escaped(Array($0.utf8)) }
            for (number, line) in lines.enumerated() {
                run.complain(number == 0 ? "\(manifest.identifier): \(line)" : line)
            }
        }
        if case .deadline = failure.reason { return .lockTimedOut }
        return .failure
    }
}

private func print(_ item: ExtensionItem, in container: Container?, _ run: inout CommandRun) throws {
    if let text = item.text { try printLine(Array(text.utf8), &run) }
    for attachment in item.attachments {
        switch attachment.content {
        case .text(let text): try printLine(Array(text.utf8), &run)
        case .url(let url): try printLine(Array(url.absoluteString.utf8), &run)
        case .bytes(let bytes) where StandardOutput.isTerminal: try printLine(bytes, &run)
        case .bytes(let bytes): try run.output.write(bytes)
        case .propertyList: try printLine(ResultLine.encoded(attachment) ?? [], &run)
        case .item(let path):
            // The caller says so.
            guard let container, isItem(path, of: container) else { continue }
            try printLine(container.path.bytes + [UInt8(ascii: "/")] + path.bytes, &run)
        case .file: continue
        }
    }
}

/// An extension may return any bytes as a path.
private func isItem(_ path: ItemPath, of container: Container?) -> Bool {
    guard let container, !path.bytes.contains(where: { $0 < 0x20 }) else { return false }
    let coordinator = container.coordinator(purpose: "group-share").blocking
    let intent = AccessIntent.reading(path, .immediatelyAvailableMetadataOnly)
    return (try? coordinator.coordinate(intent) { try $0.item(path) }).flatMap { $0 } != nil
}

/// Prints a text: raw into a pipe or a file, and without what a terminal obeys on a terminal.
private func printLine(_ bytes: [UInt8], _ run: inout CommandRun) throws {
    if StandardOutput.isTerminal {
        let text = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try run.output.writeLine(TerminalName.shown(Array(line)))
        }
        return
    }
    try run.output.write(bytes.last == UInt8(ascii: "\n") ? bytes : bytes + [UInt8(ascii: "\n")])
}

/// Opens a URL: in the app of the extension's group that has registered its scheme, else with the opener.
private func open(_ url: URL, in container: Container?, _ run: inout CommandRun) throws {
    let text = url.absoluteString
    if let container, try WidgetCenter(container).open(text) != .noApp { return }
    let opener = try run.arguments.text("opener") ?? "xdg-open"
    do throws(Errno) {
        try ChildProcess.startDetached([Array(opener.utf8), Array(text.utf8)])
    } catch {
        run.complain("cannot run '\(opener)': \(error)")
    }
}
