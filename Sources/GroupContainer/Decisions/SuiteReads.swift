/// What a change of a suite was decided upon: it holds only as long as that is so.
struct SuiteReads: Sendable {
    /// Keys that were read, and which change had set them.
    var keys: [String: UInt64] = [:]
    /// Of the whole suite, if all of it was read.
    var suite: UInt64?
    private var only: (key: String, generation: UInt64)?
    /// The suite was at this generation: as long as it is, nothing has changed.
    private var moment: UInt64?

    init() {}

    /// One key: without a dictionary around it.
    init(key: String, generation: UInt64, at moment: UInt64? = nil) {
        only = (key, generation)
        self.moment = moment
    }

    func hold(in state: SuiteState) -> Bool {
        if moment == state.generation { return true }
        if let suite, suite != state.generation { return false }
        if let only, only.generation != state.generation(of: only.key) { return false }
        return keys.allSatisfy { state.generation(of: $0.key) == $0.value }
    }
}
