/// Text that is not what it should be: where, and why.
package struct TextFault: Error, Equatable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    /// What is wrong there.
    package let what: String

    /// What is wrong at a place of a text.
    package init(_ what: String, at place: Int, of text: [UInt8]) {
        self.what = what
        line = 1 + text.prefix(place).count { $0 == 0x0A }
    }

    /// A sentence for the user.
    package var description: String { "line \(line): \(what)" }
}
