import GroupCluster

/// The work of this machine that has failed and is tried again, each with its failure until it is done or no longer
/// wanted. Lack of room on the disk is in `FullDisk`.
struct Failures {
    enum Work: Hashable {
        /// Reading the cluster's log.
        case log
        /// Sending changes.
        case commit
        /// Work of the link, by its name.
        case link(String)
        /// Applying an item of the cluster.
        case item(ItemName)
        /// Setting the values of a suite.
        case values(String)
        /// Putting back a file that came out of the container.
        case takenOut([UInt8])
        /// Looking for items that are not at their paths.
        case looking
    }

    /// A failure, with what a person has to do if it does not end by itself.
    struct Failure {
        var text: String
        var remedy: String?
    }

    private var found: [Work: Failure] = [:]
    /// The work that failed, the first first.
    private var order: [Work] = []

    mutating func failed(_ work: Work, _ text: String, remedy: String? = nil) {
        if found.updateValue(Failure(text: text, remedy: remedy), forKey: work) == nil { order.append(work) }
    }

    mutating func ended(_ work: Work) { keep { $0 != work } }

    /// Forgets the work for which `isWanted` returns false.
    mutating func keep(_ isWanted: (Work) -> Bool) {
        if order.isEmpty { return }
        for work in order where !isWanted(work) { found[work] = nil }
        order.removeAll { found[$0] == nil }
    }

    /// The failure that the status shows: of the log or of sending, if these have failed, as everything waits for them.
    var shown: Failure? { found[.log] ?? found[.commit] ?? order.last.flatMap { found[$0] } }
}
