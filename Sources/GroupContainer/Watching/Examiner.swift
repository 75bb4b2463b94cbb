import GroupSystemCalls

/// An examination of a container by somebody who is not its leader: a short command, or a request that asks for
/// generations. One thread; never waits for a lock.
final class Examiner {
    private var observation: Observation<LiveTree>
    private let member: Member

    /// Under the lock that is held, if any.
    init(_ member: Member, under lock: HeldLock?) throws(CoordinationError) {
        self.member = member
        let tree = LiveTree(member, try member.recordedTree(), term: .max, under: lock)
        observation = Observation(tree)
        try tree.catchUp()
    }

    var picture: TreePicture { observation.examination.world.picture }

    func note(_ location: ItemLocation, _ why: Evidence) { observation.examination.notes.note(location, why) }

    /// Looks at everything that was noted, and at nothing else; where others have a change of it under way, until that
    /// has its record. True if it wrote anything. Errors: `lockTimedOut`, with who has that change
    func work(for operation: String, until deadline: Deadline) throws(CoordinationError) -> Bool {
        while true {
            try observation.examination.work()
            guard let left = observation.examination.postponed.keys.first else {
                return observation.examination.world.takeAppended()
            }
            if deadline.isOver { throw isBusy(left, operation) }
            pause(nanoseconds: 200_000)
            observation.examination.world.beginRound()
        }
    }

    private func isBusy(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        let member = observation.examination.world.inTheWay.flatMap(member.memberTable.member(at:))
        let who = member.map { "\($0.process.description), \($0.purpose)," } ?? "another process"
        return CoordinationError(
            .lockTimedOut, item: printable(location.bytes), operation: operation,
            cause: "\(who) has a change under way that does not come to an end",
            advice: "try again; groupctl status says what that process does")
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
