// Imports nothing: no file, clock or process.

/// The rules for the name of a suite or a channel, which is also that of its directory.
enum LogName {
    private static let longest = 200

    /// Returns whether a suite or a channel may have a name.
    static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return !bytes.isEmpty && bytes.count <= longest && !bytes.contains(0) && !bytes.contains(UInt8(ascii: "/"))
            && bytes.first != UInt8(ascii: ".")
    }

    /// Checks a name. Errors: `invalidArgument`
    static func check(_ name: String, of what: String, operation: String) throws(CoordinationError) {
        if isName(name) { return }
        throw CoordinationError(
            .invalidArgument, operation: operation, item: name,
            reason: "a \(what)'s name has 1 to \(longest) bytes, no '/', no NUL, and no '.' at its beginning")
    }
}
