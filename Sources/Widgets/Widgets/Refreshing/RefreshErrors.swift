import GroupBytes
package import GroupContainer

extension CoordinationError {
    /// Returns the error for a widget's kind that is not a plain name.
    static func malformedWidgetKind(_ kind: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "refresh", item: printable(Array(kind.utf8)),
            reason: "a widget's kind has letters, digits, '.', '-' and '_', and does not begin with '.'")
    }

    /// Returns the error for a widget's interest that can match nothing.
    static func malformedInterest(_ interest: String, _ reason: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "use the interest", item: printable(Array(interest.utf8)), reason: reason)
    }

    /// Returns the error for a widget's record in the container that does not decode.
    static func damagedWidgetRecord(_ file: PrivateFile, putAsideAs other: String) -> CoordinationError {
        CoordinationError(
            .damaged, operation: "refresh", item: file.label, containerPath: file.container,
            reason: "the file is not what a refresh writes; it was put aside as '\(other)'",
            remedy: Remedy(.tryAgain, "refresh again, which creates a new file"))
    }

    /// Returns the error for an item at the path of a record of presses that is none.
    static func damagedPressRecord(_ path: ItemPath, _ reason: String) -> CoordinationError {
        CoordinationError(
            .invalidContent, operation: "look for a press", item: path.description, reason: reason,
            remedy: Remedy(.tryAgain, "press again, which replaces the item"))
    }

    /// Returns the error for a widget's record that a newer version wrote.
    static func newerWidgetRecord(_ file: PrivateFile, _ version: Int) -> CoordinationError {
        CoordinationError(
            .newerFormat, operation: "refresh", item: file.label, containerPath: file.container,
            reason: "the file has version \(version)",
            remedy: Remedy(.update, "refresh with a newer version of this package"))
    }

    /// Returns the error for a widget's record that cannot be encoded.
    static func unencodableWidgetRecord(_ file: PrivateFile) -> CoordinationError {
        CoordinationError(
            .invalidContent, operation: "refresh", item: file.label, containerPath: file.container,
            reason: "the record does not encode")
    }
}

extension WidgetInterest {
    /// The text that `init(text:)` accepts for this interest.
    package var text: String {
        switch subject {
        case .path(let pattern): pattern
        case .metadata(let pattern): "metadata:\(pattern)"
        case .defaults(let suite, let key): "defaults:\(suite)" + (key.map { ":\($0)" } ?? "")
        }
    }

    /// Says why the interest, one of a widget's, probably never matches what is in a container; nil if there is no reason
    /// to doubt it.
    package func doubt(in container: Container, among interests: [WidgetInterest]) -> String? {
        switch subject {
        case .path(let pattern), .metadata(let pattern):
            container.doubt(
                ofPattern: Array(pattern.utf8), among: interests.compactMap { $0.pattern.map { Array($0.utf8) } })
        case .defaults(let suite, _): container.doubt(ofSuite: suite)
        }
    }

    /// A description of the mistake in the interest's pattern, because of which it cannot match what was meant, with
    /// the right way to write it; nil if there is none.
    package var fault: String? {
        pattern.flatMap { ChangeFilter.fault(ofPattern: Array($0.utf8)) }
    }
}
