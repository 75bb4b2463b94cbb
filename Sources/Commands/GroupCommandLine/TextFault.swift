/// An error in a text, with its line.
package struct TextFault: Error, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    package let line: Int
    /// What is wrong in the line.
    package let what: String

    /// Creates an error at an offset of a text.
    package init(_ what: String, at offset: Int, of text: [UInt8]) {
        self.what = what
        line = 1 + text.prefix(offset).count { $0 == 0x0A }
    }

    /// A sentence for the user.
    package var description: String { "line \(line): \(what)" }
}
