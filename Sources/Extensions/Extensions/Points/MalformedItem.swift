import GroupContainer

/// The error of a request or a result that has not the form that its point requires.
public struct MalformedItem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The point.
    public let point: ExtensionPoint
    /// What is wrong, for people.
    public let reason: String

    /// A sentence for people.
    public var description: String { "the item is none of the point '\(point)': \(reason)" }
}

/// The one item of a request or a result, for reading.
struct PointItem {
    let point: ExtensionPoint
    let item: ExtensionItem

    /// Errors: `MalformedItem` for more or fewer items than one, or more attachments than `most`.
    init(_ items: [ExtensionItem], _ point: ExtensionPoint, attachments most: Int) throws(MalformedItem) {
        guard items.count == 1, let item = items.first else {
            throw MalformedItem(point: point, reason: "there are \(items.count) items, and not one")
        }
        self.point = point
        self.item = item
        if item.attachments.count > most {
            throw fault("it has \(item.attachments.count) attachments, and not \(most) at most")
        }
    }

    func fault(_ reason: String) -> MalformedItem { MalformedItem(point: point, reason: reason) }

    func text(_ name: String) throws(MalformedItem) -> String {
        guard case .string(let text)? = item.values[name] else { throw fault("its value '\(name)' is no text") }
        return text
    }

    func textIfPresent(_ name: String) throws(MalformedItem) -> String? {
        item.values[name] == nil ? nil : try text(name)
    }

    /// Returns a number that is not negative.
    func count(_ name: String) throws(MalformedItem) -> Int {
        guard case .integer(let number)? = item.values[name], number >= 0 else {
            throw fault("its value '\(name)' is no count")
        }
        return number
    }
}
