// Imports nothing: no file, clock or process.

/// A queue in which each element is once, in the order of the last insertions. All calls take constant time on average.
package struct Worklist<Element: Hashable & Sendable>: Equatable, Sendable {
    private var queue: [(element: Element, number: UInt64)] = []
    private var head = 0
    /// The number of each element's valid position in the queue. Its other positions are those of earlier insertions.
    private var numbers: [Element: UInt64] = [:]
    private var last: UInt64 = 0

    package init() {}

    package static func == (left: Worklist, right: Worklist) -> Bool { left.elements == right.elements }

    package var count: Int { numbers.count }
    package var isEmpty: Bool { numbers.isEmpty }
    package func contains(_ element: Element) -> Bool { numbers[element] != nil }

    /// The elements, in their order.
    package var elements: [Element] {
        queue[head...].compactMap { numbers[$0.element] == $0.number ? $0.element : nil }
    }

    /// Inserts an element at the end, or moves it there.
    package mutating func insert(_ element: Element) {
        last += 1
        numbers[element] = last
        queue.append((element, last))
    }

    package mutating func remove(_ element: Element) { numbers[element] = nil }

    /// The element whose turn it is; nil if there is none.
    package var first: Element? {
        mutating get {
            while head < queue.count {
                let (element, number) = queue[head]
                if numbers[element] == number { return element }
                head += 1
                if head > 64 && head * 2 > queue.count {
                    queue.removeFirst(head)
                    head = 0
                }
            }
            return nil
        }
    }

    package mutating func removeFirst() -> Element? {
        guard let element = first else { return nil }
        remove(element)
        return element
    }
}
