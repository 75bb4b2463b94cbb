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

/// Runs an operation whose form on Apple's systems has no place for an error: the error becomes a line on standard
/// error, and the result is nil.
@discardableResult func reportingErrors<Answer>(_ operation: () throws -> Answer) -> Answer? {
    do {
        return try operation()
    } catch {
        try? FileHandle.standardError.write(contentsOf: Data("\(programName()): \(error)\n".utf8))
        return nil
    }
}
