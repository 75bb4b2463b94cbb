// Imports nothing: no file, clock or process.

/// A pressed key.
package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    /// A key with Control, as its letter.
    case control(Unicode.Scalar)
    case up, down, left, right, shiftUp, shiftDown
    case pageUp, pageDown, home, end
    case enter, tab, backspace, escape
    /// A pasted text, whose characters are not keys.
    case pasted
    /// A key without a meaning here.
    case unknown
}
