public import FoundationEssentials
public import GroupContainer
import GroupSystemCalls

/// Loading. The calls read files on threads of their own, and cancel their wait for an item's lock with their task.
extension Attachment {
    /// The largest content that is loaded unless a call has another limit: 64 MiB.
    public static let largestContent = 64 << 20

    /// The container's purpose of a coordinated read, for the diagnosis of waits.
    private static let purpose = "attachment"

    /// Loads the content as bytes: of a text, bytes, a file or an item. Errors: `tooLarge` for more than `limit` bytes;
    /// `otherContent` for a URL or a property list; `noContainer`, `item`, `file`.
    /// System calls: openat2(2), read(2), and those of a coordinated read
    public func loadBytes(limit: Int = Attachment.largestContent) async throws(AttachmentError) -> [UInt8] {
        switch content {
        case .text(let text): return try Self.checked(Array(text.utf8), limit)
        case .bytes(let bytes): return try Self.checked(bytes, limit)
        case .url, .propertyList: throw otherThan("bytes")
        case .file(let file):
            return try await Self.onThread { () throws(AttachmentError) in try file.read(limit: limit) }
        case .item(let path):
            let found = try await reading(path) { container in
                try await container.coordinator(purpose: Self.purpose).read(path) { try $0.readAll(atMost: limit) }
            }
            guard let found else { throw .tooLarge(limit: limit) }
            return found
        }
    }

    /// Loads the content as text. Errors: those of `loadBytes`; `notText` for bytes that are not UTF-8.
    public func loadText(limit: Int = Attachment.largestContent) async throws(AttachmentError) -> String {
        guard let text = String(validating: try await loadBytes(limit: limit), as: UTF8.self) else { throw .notText }
        return text
    }

    /// Loads a URL: of a URL, or of the text of an attachment of the type `url`. Errors: `otherContent`; `notURL`;
    /// those of `loadBytes` for more than 64 KiB.
    public func loadURL() async throws(AttachmentError) -> URL {
        if case .url(let url) = content { return url }
        guard type == .url else { throw otherThan("a URL") }
        let text = try await loadText(limit: 65_536)
        guard let url = URL(absolute: text) else { throw .notURL }
        return url
    }

    /// Returns a property list. Errors: `otherContent`
    public func loadPropertyList() async throws(AttachmentError) -> DefaultsValue {
        guard case .propertyList(let value) = content else { throw otherThan("a property list") }
        return value
    }

    /// Opens the content for reading: that of a file or an item without a copy, a text or bytes as a file in memory. An
    /// item that is replaced later stays as it is in the open file. Errors: those of `loadBytes` except `tooLarge`.
    /// System calls: openat2(2); memfd_create(2); those of a coordinated read
    public func open() async throws(AttachmentError) -> AttachedFile {
        switch content {
        case .text(let text): return try AttachedFile(holding: Array(text.utf8))
        case .bytes(let bytes): return try AttachedFile(holding: bytes)
        case .url, .propertyList: throw otherThan("a file")
        case .file(let file): return try AttachedFile(reopening: file.descriptor)
        case .item(let path):
            return try await reading(path) { container in
                let root = container.path.bytes
                return try await container.coordinator(purpose: Self.purpose).coordinate(.reading(path)) { _ in
                    try AttachedFile(item: path.bytes, below: root, label: "'\(path)'")
                }
            }
        }
    }

    private static func checked(_ content: [UInt8], _ limit: Int) throws(AttachmentError) -> [UInt8] {
        if content.count > limit { throw .tooLarge(limit: limit) }
        return content
    }

    private func otherThan(_ wanted: String) -> AttachmentError {
        let found =
            switch content {
            case .text: "text"
            case .url: "a URL"
            case .propertyList: "a property list"
            case .bytes: "bytes"
            case .file: "a file of the type '\(type)'"
            case .item: "an item of the type '\(type)'"
            }
        return .otherContent(found: found, wanted: wanted)
    }

    /// Calls `body` with the container, and translates its errors.
    private func reading<Answer>(
        _ path: ItemPath, _ body: (Container) async throws -> Answer
    ) async throws(AttachmentError) -> Answer {
        guard let container else { throw .noContainer(path) }
        do {
            return try await body(container)
        } catch let error as CoordinationError {
            throw .item(error)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .file("'\(path)'", reason: "\(error)")
        }
    }

    /// Runs work that waits in the kernel.
    private static func onThread<Answer: Sendable>(
        _ work: @escaping @Sendable () throws(AttachmentError) -> Answer
    ) async throws(AttachmentError) -> Answer {
        let result = await withCheckedContinuation { continuation in
            do throws(Errno) {
                try WorkThread.start { continuation.resume(returning: Result(catching: work)) }
            } catch {
                continuation.resume(returning: .failure(.file("a thread cannot be started", reason: "\(error)")))
            }
        }
        return try result.get()
    }
}

extension URL {
    /// Parses a URL that has a scheme; nil for another text.
    package init?(absolute text: String) {
        guard let url = URL(string: text), url.scheme?.isEmpty == false else { return nil }
        self = url
    }
}

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
