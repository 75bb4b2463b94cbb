// Imports nothing: no file, clock or process.

/// A list that has mostly one element, which then takes no memory of its own: a request for one item, and its lock.
/// (Public, and inlinable: see `ByteWriter`.)
public struct Few<Element>: RandomAccessCollection {
    /// The element, if there is exactly one.
    public let only: Element?
    /// The elements, if there are none or several.
    @usableFromInline let several: [Element]

    /// Makes a list of one element.
    @inlinable public init(_ element: Element) {
        only = element
        several = []
    }

    /// Makes a list of any number of elements.
    @inlinable public init(_ elements: [Element]) {
        only = elements.count == 1 ? elements[0] : nil
        several = elements.count == 1 ? [] : elements
    }

    /// The index of the first element.
    @inlinable public var startIndex: Int { 0 }
    /// The index behind the last element.
    @inlinable public var endIndex: Int { only == nil ? several.count : 1 }
    /// Returns an element.
    @inlinable public subscript(index: Int) -> Element { only ?? several[index] }
}

extension Few: Equatable where Element: Equatable {}
extension Few: Sendable where Element: Sendable {}
