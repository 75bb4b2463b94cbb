import GroupBytes
package import GroupContainer
package import GroupSystemCalls

extension CoordinationError.Remedy {
    /// Returns a remedy in a command's own words, which its error prints as they are.
    package static func ofCommand(_ text: String) -> Self { Self(.ofCommand, text) }
}

extension CoordinationError.Remedy.Code {
    /// The words of a command.
    package static let ofCommand = Self(rawValue: "command")
}

extension CoordinationError {
    /// Returns the error for a file of the user's own that a command could not write.
    package static func unwritable(_ file: [UInt8], operation: String, _ errno: Errno) -> CoordinationError {
        var error = CoordinationError(errno, operation: operation, item: printable(file))
        switch errno {
        case .noSuchEntry: error.remedy = Remedy(.makeDirectory, "create the directory of the file first")
        case .accessDenied, .notPermitted: error.remedy = Remedy(.choosePath, "name a file that you may write")
        default: break
        }
        return error
    }

    /// Returns the error for a file of the user's own that a command could not read.
    package static func unreadable(_ file: [UInt8], operation: String, _ errno: Errno) -> CoordinationError {
        var error = CoordinationError(errno, operation: operation, item: printable(file))
        if [.accessDenied, .notPermitted].contains(errno) {
            error.remedy = Remedy(.choosePath, "name a file that you may read")
        }
        return error
    }
}
