import ExtensionHosting
import Extensions
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

private func identifiers(_ point: CompletionPoint) -> [String]? {
    guard case .value(let option) = point.expected, ["with", "desktop-entry"].contains(option.name) else { return nil }
    let directory = point.options.last { $0.name == "extensions" }?.value.validText
    return ExtensionHost(directory: directory).installed().extensions.map(\.identifier).sorted()
}

CommandRun.main(groupShareSpecification, completing: identifiers) { run in
    let directory = try run.arguments.text("extensions")
    let host = ExtensionHost(directory: directory)
    if let identifier = try run.arguments.text("desktop-entry") {
        guard let manifest = run.manifest(identifier, of: host) else { return .notFound }
        // A file manager runs it in another working directory.
        let path = try directory.map { path throws(Errno) in
            String(
                decoding: try FileDescriptor.open(path: Array(path.utf8), [.pathOnly, .directory]).absolutePath(),
                as: UTF8.self)
        }
        let entry = DesktopEntry(of: manifest, FileTypes(), directory: path)
        try run.output.write(Array(entry.text.utf8))
        return .success
    }
    let items: [ExtensionItem]
    do {
        items = try run.items()
    } catch let error as MissingFile {
        run.complain("\(error)", .notFound)
        return .notFound
    }
    guard let identifier = try run.arguments.text("with") else { return try list(&run, host, items) }
    if items.isEmpty { throw run.arguments.usageError("missing ITEM") }
    guard let manifest = run.manifest(identifier, of: host) else { return .notFound }
    if let refusal = manifest.refusal(of: items) {
        run.complain("\(identifier): \(refusal)", .invalidContent)
        return .damaged
    }
    return try share(&run, host, manifest, items)
}
