/// How many threads of the process may wait in the kernel, and who is next when all of them do.
struct WaiterSeats: Sendable {
    static let limit = 64

    private var taken = 0
    private var line: [UInt64] = []
    private var last: UInt64 = 0

    /// A seat at once (nil), or a number in the line for one.
    mutating func take() -> UInt64? {
        if taken < Self.limit {
            taken += 1
            return nil
        }
        last += 1
        line.append(last)
        return last
    }

    /// Gives a seat back. Returns who has it now.
    mutating func giveBack() -> UInt64? {
        if line.isEmpty {
            taken -= 1
            return nil
        }
        return line.removeFirst()
    }

    /// Leaves the line. False: the seat is there already, and has to be given back.
    mutating func withdraw(_ number: UInt64) -> Bool {
        guard let index = line.firstIndex(of: number) else { return false }
        line.remove(at: index)
        return true
    }
}
