import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

func create(_ run: inout CommandRun) throws -> ExitStatus {
    guard let group = run.arguments.positional("GROUP") else { throw run.arguments.usageError("GROUP is missing") }
    let location = try ContainerName(argument: group).location()
    let wasThere = (try? FileDescriptor.open(path: location + Array("/.group/format".utf8), .pathOnly)) != nil
    let before = permissions(of: location)
    let container = try Container(
        named: group, creating: true, adopting: run.arguments.flag("adopt"),
        unixGroup: try run.arguments.text("unix-group"), retention: try retention(run.arguments))
    if let before, let now = permissions(of: location), now != before {
        run.remark("the mode of \(container.path) was \(octal(before)), and is \(octal(now)) now")
    }
    if wasThere && (run.arguments.flag("journal-size") || run.arguments.flag("journal-age")) {
        run.remark(
            "\(container.path) existed; the limits of its journal were set when it was created, and are unchanged")
    }
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("path", .string(PipeText.lossyString(container.path.bytes))),
                ("identifier", container.groupIdentifier.map(JSONValue.string) ?? .null),
            ]).encoded())
    }
    // An identifier does not show the path, so the path is printed; unescaped, because scripts pass it to other
    // commands.
    let isIdentifier = !group.contains(UInt8(ascii: "/"))
    if isIdentifier && !run.options.isJSON { try run.output.write(container.path.bytes + [UInt8(ascii: "\n")]) }
    if let other = ContainerName(argument: group).namesake {
        run.remark("\(other) is another container, which is unchanged")
    }
    run.explain("the container is at \(container.path)")
    return .success
}

private func permissions(of path: [UInt8]) -> UInt32? {
    try? FileDescriptor.open(path: path, [.pathOnly, .directory]).status().permissions
}

/// Returns a mode as chmod(1) takes it, with four digits.
private func octal(_ permissions: UInt32) -> String {
    let digits = String(permissions & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

func path(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([("path", .string(PipeText.lossyString(container.path.bytes)))]).encoded())
    } else {
        // The path is unescaped, because scripts pass it to other commands.
        try run.output.write(container.path.bytes + [UInt8(ascii: "\n")])
    }
    return .success
}

func changes(_ run: inout CommandRun) throws -> ExitStatus {
    guard let origin = try OriginOption.origin(run.arguments, words: [("start", .start)]) else {
        throw run.arguments.usageError(
            "--since is missing: a cursor, or start; watch-group follows changes from now on")
    }
    let (text, filter) = (try ChangeText(run, times: .relative), try FilterOptions.filter(run.arguments))
    let container = try run.openContainer()
    let included = run.arguments.values("include")
    try FilterOptions.checkIsNoLink(included, in: container)
    run.explainDoubts(of: included, in: container)
    // A damaged journal ends the comparison; its intact records are printed nonetheless.
    let comparison = Result { try container.noteUncoordinatedChanges() }
    var follower = try container.recordedChanges(since: origin, matching: filter)
    try run.paged { run in
        while let change = try follower.next(timeout: .zero) {
            try run.output.write(text.line(change, cursor: follower.cursor))
        }
    }
    try comparison.get()
    return .success
}
