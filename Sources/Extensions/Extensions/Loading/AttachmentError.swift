public import GroupContainer

/// An error of an attachment: its content cannot be loaded, or not in the form that was requested.
public enum AttachmentError: Error, Sendable, CustomStringConvertible {
    /// The content has another form than the call is for.
    case otherContent(found: String, wanted: String)
    /// The bytes are not UTF-8.
    case notText
    /// The text is not an absolute URL.
    case notURL
    /// The content is larger than the limit, in bytes.
    case tooLarge(limit: Int)
    /// The content is an item, and there is no container to look it up in.
    case noContainer(ItemPath)
    /// The content is an item of another container.
    case otherContainer(ItemPath)
    /// The content is an item that cannot be read.
    case item(CoordinationError)
    /// A file cannot be opened or read.
    case file(String, reason: String)
    /// An extension cannot return an open file: it writes an item, and returns that.
    case notReturnable

    /// A sentence for people.
    public var description: String {
        switch self {
        case .otherContent(let found, let wanted): "the attachment is \(found), and not \(wanted)"
        case .notText: "the attachment is not text in UTF-8"
        case .notURL: "the attachment is not an absolute URL"
        case .tooLarge(let limit): "the attachment is larger than \(limit) bytes"
        case .noContainer(let path): "the attachment is the item '\(path)' of a container, and there is no container"
        case .otherContainer(let path): "the attachment is the item '\(path)' of another container"
        case .item(let error): "\(error)"
        case .file(let label, let reason): "the attachment cannot be read: \(label): \(reason)"
        case .notReturnable: "an open file cannot be returned; write an item of the container, and return that"
        }
    }
}
