public import GroupContainer

/// Tests compare generations with numbers.
extension Generation: ExpressibleByIntegerLiteral {
    /// Creates a generation from its number.
    public init(integerLiteral number: UInt64) { self.init(rawValue: number) }
}

extension Generation {
    /// Returns the generation that is so many changes of the container later.
    package static func + (generation: Generation, count: UInt64) -> Generation {
        Generation(rawValue: generation.rawValue + count)
    }
}
