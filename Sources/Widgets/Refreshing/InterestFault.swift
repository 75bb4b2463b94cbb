import GroupContainer

extension Interest {
    /// The text that `init(text:)` accepts for this interest.
    package var text: String {
        switch subject {
        case .path(let pattern): pattern
        case .metadata(let pattern): "metadata:\(pattern)"
        case .defaults(let suite, let key): "defaults:\(suite)" + (key.map { ":\($0)" } ?? "")
        }
    }

    /// Why nothing can match the interest, or something else than was meant, and how to write it; nil if it has no
    /// fault.
    package var fault: String? {
        switch subject {
        case .path(let pattern), .metadata(let pattern): ChangeFilter.fault(ofPattern: Array(pattern.utf8))
        case .defaults: nil
        }
    }
}
