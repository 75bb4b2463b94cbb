package import GroupContainer

/// Which changes of items concern a widget.
package struct ItemConcern: Sendable {
    /// To follow by: lets through everything that concerns it.
    package let filter: ChangeFilter
    /// Nil: what is only touched does not concern it.
    private let touched: ChangeFilter?

    fileprivate init(_ filter: ChangeFilter, metadata: [String]) {
        var filter = filter
        if metadata.isEmpty { filter.kinds = Set(Change.Kind.Word.allCases).subtracting([.touched]) }
        (self.filter, touched) = (filter, metadata.isEmpty ? nil : ChangeFilter(including: metadata))
    }

    /// Whether a change that the filter let through is news.
    package func isNews(_ change: Change) -> Bool {
        change.kind != .touched || touched?.includes(change.path) ?? false
    }

    /// Whether a change of an item concerns it, for those who follow more than the filter lets through. A directory
    /// that goes may have something in it that does.
    package func includes(_ change: Change) -> Bool {
        let paths = [change.path, change.kind.otherPath].compactMap { $0 }
        return isNews(change) && (change.concernedDirectory || paths.contains { filter.includes($0) })
    }
}

extension Concerns {
    /// Nil: no changes of items concern the widget.
    package var itemConcern: ItemConcern? {
        switch items {
        case .none: nil
        case .all: ItemConcern(.everything, metadata: metadata)
        case .matching(let patterns): ItemConcern(ChangeFilter(including: patterns), metadata: metadata)
        }
    }
}
