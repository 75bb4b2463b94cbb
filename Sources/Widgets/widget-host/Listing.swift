import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupManifests
import GroupWidgetHosting

/// Prints what is installed, and whether it is shown: first the shown widgets, in their order.
func list(_ run: inout CommandRun) throws -> ExitStatus {
    let (_, settings) = try run.host()
    let found = settings.directories.read()
    let manifests = Dictionary(found.manifests.map { ($0.kind, $0) }, uniquingKeysWith: { first, _ in first })
    let list: ShownList
    do throws(ListFile.Fault) { list = try settings.listFile.read() } catch {
        run.complain("\(error)", .damaged)
        return .damaged
    }
    let shown = list.kinds(among: manifests.keys)
    for kind in shown + manifests.keys.filter({ !shown.contains($0) }).sorted() {
        guard let manifest = manifests[kind] else { continue }
        let word = shown.contains(kind) ? list.expanded.contains(kind) ? "expanded" : "shown" : "-"
        if run.options.isJSON {
            let file = found.files[kind]
            let object = JSONValue.object([
                ("kind", .string(kind)), ("title", .string(manifest.title)), ("shown", .bool(word != "-")),
                ("expanded", .bool(word == "expanded")), ("executable", .string(manifest.executable)),
                ("file", file.map { .string($0) } ?? .null),
                ("findings", .array(found.findings.filter { $0.file == file }.map(described))),
            ])
            try run.output.writeLine(object.encoded())
        } else {
            let fields = [word, kind, manifest.title, manifest.executable]
            try run.output.writeLine(TerminalName.line(of: fields))
        }
    }
    let mistakes = found.errors + found.findings
    for error in mistakes { run.complain("\(error)", .damaged) }
    return mistakes.isEmpty ? .success : .damaged
}

private func described(_ finding: ManifestError) -> JSONValue {
    .object([
        ("field", finding.field.map { .string($0) } ?? .null),
        ("line", finding.line.map { .integer(Int64($0)) } ?? .null), ("cause", .string(finding.cause)),
        ("advice", finding.advice.map { .string($0) } ?? .null),
    ])
}

/// Edits the list, for add, remove and order. A running host applies the new list within two seconds.
func edit(_ run: inout CommandRun) throws -> ExitStatus {
    let (_, settings) = try run.host()
    let installed = settings.directories.read().manifests.map(\.kind)
    let kinds = try run.kinds()
    let isRemoval = run.arguments.subcommands.first == "remove"
    if !isRemoval, !run.areKnown(kinds, settings) { return .notFound }
    var list = try settings.listFile.read()
    let before = list
    for kind in kinds where run.arguments.subcommands.first != "order" {
        _ = isRemoval ? list.remove(kind, among: installed) : list.add(kind, among: installed)
    }
    if run.arguments.subcommands.first == "order" { list.order(kinds, among: installed) }
    if list != before { try settings.listFile.write(list) }
    return .success
}
