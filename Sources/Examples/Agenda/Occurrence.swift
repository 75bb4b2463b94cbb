package import Foundation

/// When an event takes place.
package struct Occurrence: Comparable, Sendable {
    package let start: Date
    package let end: Date
    package let isAllDay: Bool
    package let title: String
    package let place: String
    /// A page of the event, such as its video call.
    package let url: String?

    /// Occurrences of the same time have the order of their titles, so that a view does not depend on the file's order.
    package static func < (a: Occurrence, b: Occurrence) -> Bool {
        (a.start, a.isAllDay ? 0 : 1, a.title) < (b.start, b.isAllDay ? 0 : 1, b.title)
    }
}
