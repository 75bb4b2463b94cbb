import Foundation
import GroupSystemCalls

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
