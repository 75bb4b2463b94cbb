import Extensions
import FoundationEssentials
import GroupContainer

/// What is recorded of a pasteboard's content: one value of the suite, so that each reader gets one content as a whole.
struct PasteboardRecord: Codable, Sendable {
    var changeCount: Int
    /// The name of the directory with the large representations; nil where there are none.
    var directory: String?
    var expires: Date?
    var items: [ItemLine]

    /// Describes items whose files are in place. Errors: `invalidContent` for a value that has no form in JSON
    init(_ items: [PasteboardItem], in directory: String?, expires: Date?) throws {
        changeCount = 0
        self.directory = directory
        self.expires = expires
        self.items = try items.map { item throws(AttachmentError) in
            try ItemLine(ExtensionItem(attachments: item.representations)) { _ throws(AttachmentError) in
                throw AttachmentError.notReturnable
            }
        }
    }

    /// The error of a record that cannot be read, which `reading` describes.
    struct Malformed: Error {
        let reason: String
    }

    /// Decodes a record. Errors: `Malformed`
    init(reading value: DefaultsValue) throws(Malformed) {
        guard case .json(let bytes) = value else { throw Malformed(reason: "the record is no JSON") }
        do {
            self = try JSONDecoder().decode(PasteboardRecord.self, from: Data(bytes))
        } catch {
            throw Malformed(reason: "the record does not decode: \(error)")
        }
        guard changeCount > 0 else { throw Malformed(reason: "the record has the change count \(changeCount)") }
        if let directory, !Self.isName(directory) {
            throw Malformed(reason: "the record names '\(directory.prefix(60))', which is no directory of contents")
        }
    }

    /// Returns the items. `directory` is that of the pasteboard: a record names no files elsewhere. Errors: `Malformed`
    func items(of container: Container, in directory: ItemPath) throws(Malformed) -> [PasteboardItem] {
        let contents = self.directory.map(directory.appending)
        var found: [PasteboardItem] = []
        for line in items {
            let item: ExtensionItem
            do {
                item = try line.item(in: container) { _ throws(AttachmentError) in
                    throw AttachmentError.file("a descriptor", reason: "a pasteboard has none")
                }
            } catch {
                throw Malformed(reason: "an item of the record is malformed: \(error)")
            }
            for case .item(let path) in item.attachments.map(\.content)
            where !(contents.map(path.isDirectly) ?? false) {
                throw Malformed(reason: "the record names '\(path)', which is no file of this content")
            }
            found.append(PasteboardItem(item.attachments))
        }
        return found
    }

    /// The value of the suite. Errors: `limitReached`; `EncodingError`
    func value() throws -> DefaultsValue {
        let bytes = Array(try JSONEncoder().encode(self))
        if bytes.count > PasteboardLimits.record {
            throw CoordinationError.limit(
                "the texts, URLs and property lists have \(bytes.count) bytes as JSON, and the limit is "
                    + "\(PasteboardLimits.record)")
        }
        return .json(bytes)
    }

    // MARK: Directories of contents

    /// Draws a name, which no other content has had.
    static func newName() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func isName(_ name: String) -> Bool {
        name.utf8.count == 32
            && name.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

extension CoordinationError {
    static func limit(_ reason: String) -> CoordinationError {
        CoordinationError(
            .limitReached, operation: "set", item: "pasteboard", reason: reason,
            remedy: .init(.reduceSize, "nothing was changed; set less at a time"))
    }

    static func invalidItem(_ reason: String) -> CoordinationError {
        CoordinationError(.invalidArgument, operation: "set", item: "pasteboard", reason: reason)
    }
}
