import GroupContainer

extension Interest {
    /// As `init(text:)` takes it.
    package var text: String {
        switch subject {
        case .path(let pattern): pattern
        case .metadata(let pattern): "metadata:\(pattern)"
        case .defaults(let suite, let key): "defaults:\(suite)" + (key.map { ":\($0)" } ?? "")
        }
    }

    /// Why nothing can match it, or not what was meant, and how to write it; nil for one that is in order.
    package var fault: String? {
        switch subject {
        case .path(let pattern), .metadata(let pattern): ChangeFilter.fault(ofPattern: Array(pattern.utf8))
        case .defaults: nil
        }
    }
}
