import Extensions
import FoundationEssentials
import GroupContainer

/// Content that is about to be set: what goes into the record, and what becomes a file.
struct NewContent: Sendable {
    /// The name of the directory of the files; nil where there are none.
    let directory: String?
    /// What the calls of one request need; empty where there are no files.
    let intents: [AccessIntent]
    private let record: PasteboardRecord
    private let contentPath: ItemPath
    private let files: [(source: Attachment.Content, path: ItemPath)]
    private let inlineSize: Int

    /// Sorts representations into those of the record and those of files. Errors: `invalidArgument`, `limitReached`,
    /// `invalidContent`; `AttachmentError.otherContainer`
    init(_ items: [PasteboardItem], expires: Date?, in container: Container, _ parent: ItemPath) throws {
        if items.count > PasteboardLimits.items {
            throw CoordinationError.limit("\(items.count) items are set, and the limit is \(PasteboardLimits.items)")
        }
        let name = PasteboardRecord.newName()
        contentPath = parent.appending(name)
        var (files, intents): ([(source: Attachment.Content, path: ItemPath)], [AccessIntent]) = ([], [])
        var (inline, number) = (0, 0)
        var placed = items
        for (index, item) in items.enumerated() {
            try Self.check(item)
            for (kind, representation) in item.representations.enumerated() {
                number += 1
                switch representation.content {
                case .propertyList, .url: continue
                case .text(let text):
                    if Self.fits(text.utf8.count, &inline) { continue }
                case .bytes(let bytes):
                    if Self.fits(bytes.count, &inline) { continue }
                case .item(let path):
                    if let other = representation.container, other.path != container.path {
                        throw AttachmentError.otherContainer(path)
                    }
                    intents.append(.reading(path))
                case .file: break
                }
                let path = contentPath.appending(representation.fileName(number))
                files.append((representation.content, path))
                intents.append(.writing(path))
                placed[index].representations[kind].content = .item(path)
            }
        }
        self.files = files
        inlineSize = inline
        self.intents = files.isEmpty ? [] : [.writing(contentPath)] + intents
        directory = files.isEmpty ? nil : name
        do {
            record = try PasteboardRecord(placed, in: directory, expires: expires)
            _ = try record.value()
        } catch let error as EncodingError {
            throw CoordinationError(
                .invalidContent, operation: "set", item: "pasteboard", reason: "\(error)", cause: error)
        }
    }

    private static func fits(_ count: Int, _ inline: inout Int) -> Bool {
        if count > PasteboardLimits.inline || inline + count > PasteboardLimits.allInline { return false }
        inline += count
        return true
    }

    private static func check(_ item: PasteboardItem) throws(CoordinationError) {
        let count = item.representations.count
        if count == 0 { throw .invalidItem("an item has no representation") }
        if count > PasteboardLimits.representations {
            throw .limit("an item has \(count) representations, and the limit is \(PasteboardLimits.representations)")
        }
        if Set(item.types).count < count { throw .invalidItem("an item has two representations of one type") }
    }

    /// Returns the record's value with a change count.
    func value(_ changeCount: Int) throws -> DefaultsValue {
        var record = record
        record.changeCount = changeCount
        return try record.value()
    }

    /// Writes the files, under the locks of `intents`. Errors: `limitReached`, `AttachmentError`, those of `Access`
    func write(by access: Access) throws {
        var size = UInt64(inlineSize)
        for (source, _) in files {
            let (sum, overflow) = size.addingReportingOverflow(try Self.size(of: source, by: access))
            if overflow || sum > PasteboardLimits.size {
                throw CoordinationError.limit(
                    "all representations have more than \(PasteboardLimits.size) bytes together")
            }
            size = sum
        }
        for (source, path) in files {
            switch source {
            case .text(let text): try access.write(bytes: Array(text.utf8), to: path)
            case .bytes(let bytes): try access.write(bytes: bytes, to: path)
            case .file(let file): try access.write(to: path) { writer in try file.copy(to: &writer) }
            case .item(let original): try access.copy(original, to: path)
            case .url, .propertyList: continue
            }
        }
    }

    private static func size(of source: Attachment.Content, by access: Access) throws -> UInt64 {
        switch source {
        case .text(let text): UInt64(text.utf8.count)
        case .bytes(let bytes): UInt64(bytes.count)
        case .file(let file): try file.size()
        // An item that is not there gives its error when it is copied.
        case .item(let path): try access.item(path)?.size ?? 0
        case .url, .propertyList: 0
        }
    }
}
