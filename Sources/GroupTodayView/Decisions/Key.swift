/// A key that was pressed.
package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    /// With the Control key, as its letter.
    case control(Unicode.Scalar)
    case up, down, left, right, shiftUp, shiftDown
    case pageUp, pageDown, home, end
    case enter, tab, backspace, escape
    /// A whole text was put in: none of it is meant as keys.
    case pasted
    /// Something that this program has no use for.
    case unknown
}
