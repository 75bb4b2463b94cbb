import Foundation
import GroupContainer
import GroupSystemCalls

extension NSError {
    /// Makes the error of a request, in `NSCocoaErrorDomain`, from one of this package. The original one is its
    /// `NSUnderlyingErrorKey`.
    convenience init(_ error: any Error, _ requested: [RequestedAccess]) {
        let isWriting = requested.contains(where: \.isWriting)
        var info: [String: Any] = [NSUnderlyingErrorKey: error]
        if let url = requested.first?.url {
            info[NSURLErrorKey] = url
            if url.isFileURL { info[NSFilePathErrorKey] = url.path }
        }
        guard let error = error as? CoordinationError else {
            info[NSLocalizedDescriptionKey] = "\(error)"
            self.init(
                domain: NSCocoaErrorDomain, code: Self.unknown(isWriting).rawValue, userInfo: info)
            return
        }
        info[NSLocalizedDescriptionKey] = error.description
        info[NSLocalizedFailureReasonErrorKey] = error.reason
        if let remedy = error.remedy { info[NSLocalizedRecoverySuggestionErrorKey] = remedy.text }
        self.init(domain: NSCocoaErrorDomain, code: Self.code(error, isWriting).rawValue, userInfo: info)
    }

    private static func unknown(_ isWriting: Bool) -> CocoaError.Code {
        isWriting ? .fileWriteUnknown : .fileReadUnknown
    }

    private static func code(_ error: CoordinationError, _ isWriting: Bool) -> CocoaError.Code {
        switch error.code {
        case .cancelled: .userCancelled
        case .lockTimedOut, .deadlock, .conflict, .presenterUnresponsive: .fileLocking
        case .notFound: isWriting ? .fileNoSuchFile : .fileReadNoSuchFile
        case .notPermitted: isWriting ? .fileWriteNoPermission : .fileReadNoPermission
        case .noSpace: .fileWriteOutOfSpace
        case .invalidArgument: isWriting ? .fileWriteInvalidFileName : .fileReadInvalidFileName
        default: unknown(isWriting)
        }
    }
}

/// The errors of calls whose form on Apple's systems has no place for an error, such as a set of `UserDefaults` on a
/// full disk.
///
///     UnreportedErrors.handler = { error in logger.error("\(error)") }
public enum UnreportedErrors {
    private static let current = Guarded<(@Sendable (any Error) -> Void)?>(nil)

    /// Called with each such error, on the thread of the call. Nil, the default: the error is a line on standard error.
    public static var handler: (@Sendable (any Error) -> Void)? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    static func report(_ error: any Error) {
        if let handler { return handler(error) }
        try? FileHandle.standardError.write(contentsOf: Data("\(programName()): \(error)\n".utf8))
    }
}

/// Runs an operation whose form on Apple's systems has no place for an error: the error is reported, and the result is
/// nil.
@discardableResult func reportingErrors<Answer>(_ operation: () throws -> Answer) -> Answer? {
    do {
        return try operation()
    } catch {
        UnreportedErrors.report(error)
        return nil
    }
}
