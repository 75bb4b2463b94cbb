public import Foundation
import GroupContainer
import GroupSystemCalls

/// An item, and the access to it that a request of `NSFileCoordinator.coordinate(with:queue:byAccessor:)` needs.
public final class NSFileAccessIntent: NSObject, @unchecked Sendable {
    let access: RequestedAccess
    private let present: Guarded<URL>

    private init(_ access: RequestedAccess) { (self.access, present) = (access, Guarded(access.url)) }

    /// Returns an intent to read.
    public class func readingIntent(
        with url: URL, options: NSFileCoordinator.ReadingOptions = []
    ) -> NSFileAccessIntent {
        NSFileAccessIntent(.reading(url, options))
    }

    /// Returns an intent to write.
    public class func writingIntent(
        with url: URL, options: NSFileCoordinator.WritingOptions = []
    ) -> NSFileAccessIntent {
        NSFileAccessIntent(.writing(url, options))
    }

    /// The URL of the item. In the accessor it is the present one, as the item may have been moved while the request
    /// waited.
    public var url: URL { present.withLock { $0 } }

    func setPresentURL(_ url: URL) { present.withLock { $0 = url } }
}

/// An item as a caller names it, with its options.
enum RequestedAccess: Sendable {
    case reading(URL, NSFileCoordinator.ReadingOptions)
    case writing(URL, NSFileCoordinator.WritingOptions)

    var url: URL {
        switch self {
        case .reading(let url, _), .writing(let url, _): url
        }
    }

    var isWriting: Bool {
        if case .writing = self { return true }
        return false
    }

    func intent(for path: ItemPath) -> AccessIntent {
        switch self {
        case .reading(_, let options): .reading(path, AccessIntent.ReadingOptions(options))
        case .writing(_, let options): .writing(path, AccessIntent.WritingOptions(options))
        }
    }
}

extension AccessIntent.ReadingOptions {
    /// A symbolic link is followed with and without `resolvesSymbolicLink`.
    fileprivate init(_ options: NSFileCoordinator.ReadingOptions) {
        self = []
        if options.contains(.withoutChanges) { insert(.withoutChanges) }
        if options.contains(.immediatelyAvailableMetadataOnly) { insert(.immediatelyAvailableMetadataOnly) }
        if options.contains(.forUploading) { insert(.forUploading) }
    }
}

extension AccessIntent.WritingOptions {
    fileprivate init(_ options: NSFileCoordinator.WritingOptions) {
        self = []
        if options.contains(.forDeleting) { insert(.forDeleting) }
        if options.contains(.forMoving) { insert(.forMoving) }
        if options.contains(.forMerging) { insert(.forMerging) }
        if options.contains(.forReplacing) { insert(.forReplacing) }
        if options.contains(.contentIndependentMetadataOnly) { insert(.contentIndependentMetadataOnly) }
    }
}
