package import GroupContainer

/// Which changes of items concern a widget.
package struct ItemConcern: Sendable {
    /// The filter to follow by: lets through everything that concerns the widget.
    package let filter: ChangeFilter
    /// The filter for items that were only touched; nil if touching an item does not concern the widget.
    private let touched: ChangeFilter?

    fileprivate init(_ filter: ChangeFilter, metadata: [String]) {
        var filter = filter
        if metadata.isEmpty { filter.kinds = Set(Change.Kind.Word.allCases).subtracting([.touched]) }
        self.filter = filter
        touched = metadata.isEmpty ? nil : ChangeFilter(including: metadata)
    }

    /// Returns whether a change that the filter let through is news.
    package func isNews(_ change: Change) -> Bool {
        change.kind != .touched || touched?.matches(change.path) ?? false
    }

    /// Returns whether a change of an item concerns the widget, for followers of more than the filter lets through. A
    /// directory that is moved, exchanged or removed may contain an item that concerns the widget.
    package func includes(_ change: Change) -> Bool {
        let paths = [change.path, change.kind.otherPath].compactMap { $0 }
        return isNews(change) && (change.concernedDirectory || paths.contains { filter.matches($0) })
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
