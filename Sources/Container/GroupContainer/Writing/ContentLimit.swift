/// The largest content that a writer takes.
package struct ContentLimit: Sendable {
    var bytes: UInt64
    /// Who takes no more, for errors.
    var whose: String

    /// Checks the size of a content. Error: `limitReached`
    package func check(_ size: UInt64, _ item: String, _ operation: String) throws(CoordinationError) {
        if size <= bytes { return }
        throw CoordinationError(
            .limitReached, operation: operation, item: item,
            reason: "\(whose) takes contents of at most \(bytes) bytes; nothing was changed",
            remedy: .init(.reduceSize, "divide the content into several items"))
    }
}
