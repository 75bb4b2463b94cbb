import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import PhotoPNG

// A host of photo editing extensions: photos in a container, whose edits can be resumed and undone.

private let specification = CommandSpecification(
    name: "photos", summary: "Photos, which extensions edit.",
    usage: ["photos [options] add NAME FILE | list | edit NAME EDITOR | undo NAME | path NAME"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.photos."),
        .value("extensions", "DIR", help: "The directory of the manifests, *.json, instead of the usual ones."),
    ] + CommonOptions.specifications(timeout: "The time that an extension has; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "add", summary: "Adds a photo.", usage: ["photos add NAME FILE"],
            positionals: [
                PositionalSpecification("NAME", help: "Its name."), PositionalSpecification("FILE", help: "A PNG."),
            ]),
        CommandSpecification(
            name: "list", summary: "Prints the photos: name, size, mean lightness, editor.", usage: ["photos list"]),
        CommandSpecification(
            name: "edit", summary: "Lets an extension edit a photo.", usage: ["photos edit NAME EDITOR"],
            positionals: [
                PositionalSpecification("NAME", help: "The photo."),
                PositionalSpecification("EDITOR", help: "The extension's identifier."),
            ]),
        CommandSpecification(
            name: "undo", summary: "Makes a photo the original again.", usage: ["photos undo NAME"],
            positionals: [PositionalSpecification("NAME", help: "The photo.")]),
        CommandSpecification(
            name: "path", summary: "Prints the file of a photo as it is now.", usage: ["photos path NAME"],
            positionals: [PositionalSpecification("NAME", help: "The photo.")]),
    ],
    examples: [HelpEntry("photos edit beach com.example.photo-light.brighter", "")])

/// Returns the extension that is to edit a photo. Errors: `PhotoFault.noEditor`
private func editor(_ identifier: String, _ directory: String?) throws -> ExtensionManifest {
    let installed = ExtensionHost(directory: directory).installed().extensions
    guard let manifest = installed.first(where: { $0.identifier == identifier && $0.point == .editPhoto }) else {
        throw PhotoFault.noEditor("no photo editor '\(identifier)' is installed")
    }
    if let refusal = manifest.rule.refusal(of: [.png]) { throw PhotoFault.noEditor("'\(identifier)': \(refusal)") }
    return manifest
}

/// Prints the photos, and names on standard error those that cannot be shown. Returns whether all could be.
private func list(_ store: PhotoStore, _ run: inout CommandRun) throws -> Bool {
    var isComplete = true
    for path in try store.photos() {
        do {
            guard let name = PhotoStore.name(of: path) else { throw PhotoFault.unnamed }
            try run.output.writeLine(try line(name, store))
        } catch  where !(error is OutputError) {
            isComplete = false
            run.complain("cannot show '\(path)': \(error)")
        }
    }
    return isComplete
}

/// Reads a PNG. Errors: `PhotoFault.tooLarge`, `Picture.Fault`, those of the file
private func png(_ path: [UInt8]) throws -> [UInt8] {
    let png = try PhotoStore.bytes(ofFileAt: path)
    _ = try Picture(png: png)
    return png
}

private func line(_ name: String, _ store: PhotoStore) throws -> String {
    let photo = try store.photo(name)
    let picture = try Picture(png: try photo.bytes())
    let size = "\(picture.width)×\(picture.height)"
    return TerminalName.line(of: [name, size, "\(picture.lightness)", photo.edit?.editor ?? "original"])
}

CommandRun.main(specification, needing: [.png]) { run in
    let group = run.arguments.value("group") ?? Array("group.com.example.photos".utf8)
    let container = run.use(try Container(named: group, creating: true))
    let store = PhotoStore(container)
    let words = run.arguments.positionals
    let name = (words.first ?? []).validText ?? "/"
    if name.hasPrefix(".") || name.contains("/") {
        throw run.arguments.usageError("the name of a photo is UTF-8, has no '/', and does not begin with '.'")
    }
    do {
        switch run.arguments.subcommands.first {
        case "add" where words.count == 2:
            try store.add(name, try png(words[1]))
        case "list": return try list(store, &run) ? .success : .damaged
        case "edit" where words.count == 2:
            let editor = try editor(PipeText.lossyString(words[1]), try run.arguments.text("extensions"))
            try store.edit(name, with: editor, deadline: run.options.timeout ?? ExtensionRequest.usualDeadline)
            try run.output.writeLine(try line(name, store))
        case "undo" where words.count == 1:
            if try !store.undo(name) { return .noData }
        case "path" where words.count == 1:
            try run.output.writeLine("\(container.path)/\(try store.photo(name).path)")
        default: throw run.arguments.usageError("missing a command: add, list, edit, undo or path")
        }
    } catch let fault as PhotoFault {
        run.complain("\(fault)")
        return .failure
    } catch let fault as Picture.Fault {
        run.complain("the file is no PNG that can be shown: \(fault)")
        return .damaged
    }
    return .success
}
