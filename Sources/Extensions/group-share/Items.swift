import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

extension CommandRun {
    /// The largest text on standard input: what is larger is to be shared as a file.
    private static var largestText: Int { 1 << 20 }

    /// Returns what the ITEM arguments name, as one item; empty for none.
    func items() throws -> [ExtensionItem] {
        let words = arguments.positionals("ITEM")
        if words.isEmpty { return [] }
        let title = try arguments.text("title")
        var type: ContentType?
        if let text = try arguments.text("type") {
            guard let known = ContentType(text) else {
                throw arguments.usageError("--type must be a MIME type, url, text or property-list")
            }
            type = known
        }
        let types = FileTypes()
        var attachments: [Attachment] = []
        for word in words { attachments.append(try attachment(word, type, types)) }
        return [ExtensionItem(title: title, attachments: attachments)]
    }

    private func attachment(_ word: [UInt8], _ type: ContentType?, _ types: FileTypes) throws -> Attachment {
        if word == Array("-".utf8) {
            let bytes = try StandardInput.readAll(limit: Self.largestText)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return Attachment(.bytes(bytes), type: type ?? .bytes)
            }
            return Attachment(.text(text), type: type ?? .text)
        }
        if let url = Self.url(word) {
            guard url.scheme?.lowercased() == "file" else { return Attachment(.url(url), type: type ?? .url) }
            return try file(Array(url.path(percentEncoded: false).utf8), type, types)
        }
        return try file(word, type, types)
    }

    /// Returns the address that a word is; nil for the path of a file. `a:b` is a file unless it is an address of a
    /// known form, and a file `mailto:x` can be named `./mailto:x`.
    private static func url(_ word: [UInt8]) -> URL? {
        guard let text = word.validText, let end = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<end]
        let isScheme =
            scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text[end...].dropFirst()
        guard isScheme, rest.hasPrefix("//") || ["mailto", "tel", "geo", "news"].contains(scheme.lowercased()) else {
            return nil
        }
        return URL(string: text)
    }

    private func file(_ path: [UInt8], _ type: ContentType?, _ types: FileTypes) throws -> Attachment {
        let label = PipeText.escaped(path)
        guard let text = path.validText else {
            throw MissingFile(description: "'\(label)': the name is not valid UTF-8")
        }
        let file: AttachedFile
        do throws(AttachmentError) {
            file = try AttachedFile(path: text)
        } catch {
            throw MissingFile(description: PipeText.escaped(Array("\(error)".utf8)))
        }
        let name = text.split(separator: "/").last.map(String.init) ?? text
        let found = type ?? ContentType(types.type(of: name, file)) ?? .bytes
        return Attachment(.file(file), type: found, name: name)
    }

    /// Returns an installed extension; nil, with a message, if there is none of this identifier.
    func manifest(_ identifier: String, of host: ExtensionHost) -> ExtensionManifest? {
        let installed = host.installed()
        if let found = installed.extensions.first(where: { $0.identifier == identifier }) { return found }
        for fault in installed.faults { complain(fault) }
        let near = NearestName.among(installed.extensions.map(\.identifier), to: identifier)
        let hint =
            near.map { "; did you mean '\($0)'?" }
            ?? "; manifests are in \(host.directoryPaths.joined(separator: ", "))"
        complain("no extension '\(PipeText.escaped(Array(identifier.utf8)))' is installed\(hint)", .notFound)
        return nil
    }
}

/// A file that cannot be shared.
struct MissingFile: Error, CustomStringConvertible {
    let description: String
}
