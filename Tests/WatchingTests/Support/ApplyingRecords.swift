@testable import GroupContainer

extension TreeIndex {
    /// Applies a record without a sequence number, for tests that are not about generations.
    mutating func apply(_ record: ChangeRecord) { apply(record, at: 0) }
}
