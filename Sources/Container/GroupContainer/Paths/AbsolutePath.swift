// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The path of a directory or file of the machine, from the root directory. (The path of an item is an `ItemPath`,
/// which is relative to its container.) Paths are bytes, as in the kernel, without Unicode folding.
public struct AbsolutePath: Hashable, Sendable, CustomStringConvertible {
    /// The bytes of the path, as the kernel has them.
    public let bytes: [UInt8]

    /// Creates a path from its bytes; nil where they don't begin with '/' or contain a NUL byte.
    public init?(bytes: [UInt8]) {
        if bytes.first != UInt8(ascii: "/") || bytes.contains(0) { return nil }
        self.bytes = bytes
    }

    /// Creates a path from text, as UTF-8; nil where it doesn't begin with '/' or contains a NUL byte.
    public init?(_ text: some StringProtocol) { self.init(bytes: Array(text.utf8)) }

    /// Creates the absolute path of a file from the file's path relative to a directory.
    init(_ path: [UInt8], in directory: [UInt8]) { bytes = directory + [UInt8(ascii: "/")] + path }

    /// The path as text; bytes that are not UTF-8, and control characters, as octal.
    public var description: String { printable(bytes) }
}
