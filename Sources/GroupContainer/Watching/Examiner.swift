import GroupSystemCalls

/// An examination of a container by somebody who is not its steward: a short command, or a request that asks for
/// generations. One thread; never waits for a lease.
final class Examiner {
    private var observation: Observation<LiveTree>

    /// Under the lease that is held, if any.
    init(_ member: Member, under lease: Lease?) throws(CoordinationError) {
        let tree = LiveTree(member, try member.recordedTree(), term: .max, under: lease)
        // Under a lease one item is asked about, and nobody waits for another's.
        observation = Observation(tree, waitsForFolders: lease == nil)
        try tree.catchUp()
    }

    var picture: TreePicture { observation.examination.world.picture }

    func note(_ location: ItemLocation, _ why: Evidence) { observation.examination.notes.note(location, why) }

    /// Looks at everything that was noted, and at nothing else. True if it wrote anything.
    func work() throws(CoordinationError) -> Bool {
        try observation.examination.work()
        return observation.examination.world.takeAppended()
    }

    /// Compares the whole tree with the journal. Linear in the number of items.
    func compareEverything() throws(CoordinationError) -> Bool {
        observation.compareEverything()
        repeat {
            observation.examination.world.beginRound()
            try observation.work()
        } while !observation.isSettled
        return observation.examination.world.takeAppended()
    }
}
