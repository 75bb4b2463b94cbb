@testable import GroupContainer

extension TreeIndex {
    /// For tests that are not about generations.
    mutating func apply(_ record: ChangeRecord) { apply(record, at: 0) }
}
