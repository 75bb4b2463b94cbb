package import GroupContainer

extension Concerns {
    /// Which changes of items concern the widget; nil: none.
    package var itemFilter: ChangeFilter? {
        switch items {
        case .none: nil
        case .all: .everything
        case .matching(let patterns): ChangeFilter(including: patterns)
        }
    }
}
