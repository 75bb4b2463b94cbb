import Foundation
import GroupSystemCalls

/// Runs an operation that has no result for its caller; an error becomes a line on standard error, which of a widget is
/// the log of its host.
package func reportingErrors(_ operation: () throws -> Void) {
    do {
        try operation()
    } catch {
        try? FileHandle.standardError.write(contentsOf: Data("\(programName()): \(error)\n".utf8))
    }
}
