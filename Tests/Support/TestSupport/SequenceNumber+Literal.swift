public import GroupContainer

extension SequenceNumber: ExpressibleByIntegerLiteral {
    /// So that tests compare with numbers.
    public init(integerLiteral number: UInt64) { self.init(rawValue: number) }
}
