import ExtensionHosting
import Extensions
import GroupProtocolLines

/// A result as `--json` prints it.
struct ResultLine: Encodable {
    private let result: String
    private var items: [ItemLine]?
    private var error: ExtensionError?
    private var cause: String?

    /// Returns a result as JSON; nil if it contains a number that JSON cannot hold.
    static func encoded(_ result: ExtensionResult) -> [UInt8]? { ProtocolLine.encoded(ResultLine(result)) }

    /// Returns an item with one attachment as JSON.
    static func encoded(_ attachment: Attachment) -> [UInt8]? {
        ProtocolLine.encoded(line(ExtensionItem(attachments: [attachment])))
    }

    private init(_ result: ExtensionResult) {
        switch result {
        case .completed(let items): (self.result, self.items) = ("completed", items.compactMap(Self.line))
        case .cancelled(let error): (self.result, self.error) = ("cancelled", error)
        case .failed(let failure): (self.result, cause) = ("failed", "\(failure)")
        }
    }

    /// An extension returns no open file, so that there is always a line.
    private static func line(_ item: ExtensionItem) -> ItemLine? {
        try? ItemLine(item) { _ throws(AttachmentError) in throw .notReturnable }
    }
}
