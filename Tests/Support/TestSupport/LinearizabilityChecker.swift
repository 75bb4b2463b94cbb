/// Whether what several processes saw of one number can have happened in some order in which each operation takes
/// effect at one moment between its beginning and its end: Wing and Gong's search (1993), with Lowe's memory of visited
/// states (2017).
package struct LinearizabilityChecker {
    package enum Kind: Hashable, Sendable {
        case get
        case set(Int)
        case add
        /// A compare and set.
        case exchange(from: Int, to: Int)
    }

    package struct Operation: Sendable {
        package var kind: Kind
        package var began: Int64
        /// `Int64.max` if its process was killed: it may have happened at any time since, or never.
        package var ended: Int64
        /// What the operation returned; of no matter if it has not ended.
        package var answer: Int

        package init(_ kind: Kind, began: Int64, ended: Int64, answer: Int) {
            self.kind = kind
            self.began = began
            self.ended = ended
            self.answer = answer
        }

        /// Returns the number after the operation; nil if it cannot have returned its answer then.
        fileprivate func applied(to number: Int) -> Int? {
            let hasEnded = ended != .max
            switch kind {
            case .get: return !hasEnded || answer == number ? number : nil
            case .set(let value): return value
            case .add: return !hasEnded || answer == number + 1 ? number + 1 : nil
            case .exchange(let from, let to):
                let isSet = number == from
                return !hasEnded || answer == (isSet ? 1 : 0) ? (isSet ? to : number) : nil
            }
        }
    }

    private let operations: [Operation]

    package init(_ operations: [Operation]) { self.operations = operations.sorted { $0.began < $1.began } }

    private struct Place: Hashable {
        /// All operations before this one are done.
        var first: Int
        /// The operations behind it that are done.
        var done: Set<Int>
        var number: Int
    }

    /// Returns true if there is such an order. Exponential at worst, in how many operations overlap; linear where few
    /// do.
    package func isLinearizable(from number: Int) -> Bool {
        var seen = Set<Place>()
        var places = [Place(first: 0, done: [], number: number)]
        while let place = places.popLast() {
            if isOver(place) { return true }
            // An operation that begins behind the earliest end of those that are not done cannot be next.
            var bound = Int64.max
            var index = place.first
            var candidates: [Int] = []
            while index < operations.count, operations[index].began <= bound {
                if !place.done.contains(index) {
                    candidates.append(index)
                    bound = min(bound, operations[index].ended)
                }
                index += 1
            }
            for candidate in candidates where operations[candidate].began <= bound {
                guard let number = operations[candidate].applied(to: place.number) else { continue }
                var next = place
                next.number = number
                next.done.insert(candidate)
                while next.done.remove(next.first) != nil { next.first += 1 }
                if seen.insert(next).inserted { places.append(next) }
            }
        }
        return false
    }

    /// Returns whether all operations that ended are done.
    private func isOver(_ place: Place) -> Bool {
        operations.indices[place.first...].allSatisfy { place.done.contains($0) || operations[$0].ended == .max }
    }
}
