public import Extensions
public import FoundationEssentials
public import GroupContainer
import GroupSystemCalls

/// A pasteboard whose calls block the thread. For programs without tasks; see `GroupPasteboard`.
public struct BlockingGroupPasteboard: Sendable {
    private let pasteboard: GroupPasteboard
    private var coordinator: BlockingCoordinator { pasteboard.coordinator.blocking }

    init(_ pasteboard: GroupPasteboard) { self.pasteboard = pasteboard }

    /// Loads the bytes of the first representation of a type.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - limit: The most bytes.
    /// - Returns: The bytes of a text, of bytes or of a file; nil where there is no representation of the type.
    ///
    /// Errors: `AttachmentError.tooLarge`; `AttachmentError.otherContent` for a URL or a property list; those of
    /// `GroupPasteboard.representation(of:)`
    public func bytes(
        of type: ContentType, limit: Int = Attachment.largestContent
    ) throws -> [UInt8]? {
        guard let found = try pasteboard.representation(of: type) else { return nil }
        let bytes: [UInt8]
        switch found.content {
        case .text(let text): bytes = Array(text.utf8)
        case .bytes(let content): bytes = content
        case .file(let file): return try file.read(limit: limit)
        case .url: throw AttachmentError.otherContent(found: "a URL", wanted: "bytes")
        case .propertyList: throw AttachmentError.otherContent(found: "a property list", wanted: "bytes")
        case .item(let path): throw AttachmentError.noContainer(path)
        }
        if bytes.count > limit { throw AttachmentError.tooLarge(limit: limit) }
        return bytes
    }

    /// Replaces the content, in one step. See `GroupPasteboard.set(_:expires:timeout:)`.
    @discardableResult
    public func set(
        _ items: [PasteboardItem], expires: Date? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Int {
        let new = try pasteboard.newContent(items, expires: expires)
        let count = Result {
            new.intents.isEmpty
                ? try pasteboard.record(new)
                : try coordinator.coordinate(new.intents, timeout: timeout) { access in
                    try pasteboard.put(new, by: access)
                }
        }
        let others = pasteboard.otherDirectories()
        do {
            if new.directory != nil || !others.isEmpty { try pasteboard.flush() }
        } catch {
            _ = try count.get()
            throw error
        }
        for other in others {
            _ = try? coordinator.coordinate(.writing(other, .forDeleting), timeout: .zero) { access in
                try pasteboard.remove(other, by: access)
            }
        }
        return try count.get()
    }

    /// Removes all items. See `GroupPasteboard.clear()`.
    @discardableResult
    public func clear() throws -> Int { try set([]) }

    /// Waits until the change count is another one.
    ///
    /// - Parameters:
    ///   - count: The change count that the caller has seen.
    ///   - timeout: The limit of the wait; nil for none.
    /// - Returns: The present change count; nil when the time is over.
    ///
    /// Errors: those of `GroupDefaults.follow(of:since:)`. System calls: futex_waitv(2), only where nothing has changed
    public func waitForChange(
        after count: Int, timeout: Duration? = nil
    ) throws(CoordinationError) -> Int? {
        let deadline = Deadline(after: timeout)
        var changes = try pasteboard.followCounts()
        while true {
            let present = pasteboard.changeCount
            if present != count { return present }
            let remaining = deadline.remaining.map { Duration.nanoseconds($0) }
            if try changes.next(timeout: remaining) == nil { return nil }
        }
    }
}
