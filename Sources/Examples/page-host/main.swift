import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupCommandLine
import GroupCommands
import GroupSystemCalls

// A host of page scripts: shows a page in a browser without a window, and lets an extension work on it.

private let specification = CommandSpecification(
    name: "page-host", summary: "Runs an extension's script in a page, and prints the page.",
    usage: ["page-host --with ID [options] PAGE"],
    options: [
        .value("with", letter: "w", "ID", help: "The extension."),
        .value("extensions", "DIR", help: "The directory of the manifests, *.json, instead of the usual ones."),
        .value("browser", "PROGRAM", help: "The browser; the default is chromium."),
    ] + CommonOptions.specifications(timeout: "The time for everything; the default is 30 s."),
    positionals: [PositionalSpecification("PAGE", help: "The path of a file, or a data: address.")],
    examples: [HelpEntry("page-host --with com.example.page-words page.html", "")])

CommandRun.main(specification) { run in
    guard let identifier = try run.arguments.text("with") else { throw run.arguments.usageError("missing --with ID") }
    let page = run.arguments.positional("PAGE").flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    guard let address = page.hasPrefix("data:") ? URL(string: page) : URL(filePath: page), !page.isEmpty else {
        throw run.arguments.usageError("PAGE is no path, and no data: address")
    }
    let extensions = ExtensionHost(directory: try run.arguments.text("extensions"))
    guard let manifest = extensions.installed().extensions.first(where: { $0.identifier == identifier }) else {
        run.complain("no extension '\(identifier)' is installed")
        return .notFound
    }
    try ProcessTree.adoptOrphans()
    let signals = TerminationSignals()
    let cancellation = Cancellation()
    try WorkThread.start {
        while signals.received == nil { signals.wait(nanoseconds: .max) }
        cancellation.cancel()
    }
    let work = PageRun(
        address: address.absoluteURL, manifest: manifest, extensions: extensions,
        browser: try run.arguments.text("browser") ?? "chromium",
        deadline: Deadline(after: run.options.timeout ?? ExtensionRequest.usualDeadline), cancellation: cancellation)
    do {
        try run.output.writeLine(try work.run())
    } catch let fault as PageFault {
        if let signal = signals.received { return .signal(signal) }
        run.complain("\(fault)")
        return fault.isDeadline ? .lockTimedOut : .failure
    }
    return .success
}
