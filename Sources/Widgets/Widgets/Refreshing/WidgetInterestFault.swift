import GroupContainer

extension WidgetInterest {
    /// The text that `init(text:)` accepts for this interest.
    package var text: String {
        switch subject {
        case .path(let pattern): pattern
        case .metadata(let pattern): "metadata:\(pattern)"
        case .defaults(let suite, let key): "defaults:\(suite)" + (key.map { ":\($0)" } ?? "")
        }
    }

    /// A description of the mistake in the interest's pattern, because of which it cannot match what was meant, with
    /// the right way to write it; nil if there is none.
    package var fault: String? {
        pattern.flatMap { ChangeFilter.fault(ofPattern: Array($0.utf8)) }
    }
}
