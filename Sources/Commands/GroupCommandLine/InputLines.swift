package import GroupSystemCalls

/// Standard input line by line, as it comes. Not copyable, so that no two owners hold the same unread bytes.
package struct InputLines: ~Copyable {
    /// The result of `next`.
    package enum Step: Equatable {
        /// A line without its newline; the last line need not have one.
        case line([UInt8])
        /// No complete line is left; `wait` reads more.
        case dry
        case end
    }

    private let descriptor: Int32
    private let limit: Int
    private var pending: ArraySlice<UInt8> = []
    /// Whether the rest of a line that was too long is being skipped.
    private var isSkipping = false
    /// How many bytes of `pending` are known to hold no newline.
    private var searched = 0
    private var isAtEnd = false
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// Creates a reader of a descriptor, for lines of at most `limit` bytes.
    package init(descriptor: Int32 = 0, limit: Int) { (self.descriptor, self.limit) = (descriptor, limit) }

    /// Returns the next complete line. Does not block. After `tooLarge` the next call continues with the following
    /// line.
    package mutating func next() throws(InputError) -> Step {
        if isSkipping {
            guard let end = pending.firstIndex(of: 0x0A) else {
                pending = []
                return isAtEnd ? .end : .dry
            }
            (pending, isSkipping) = (pending[(end + 1)...], false)
        }
        if let end = pending.dropFirst(searched).firstIndex(of: 0x0A) {
            let line = Array(pending[..<end])
            (pending, searched) = (pending[(end + 1)...], 0)
            if line.count > limit { throw .tooLarge(limit: limit) }
            return .line(line)
        }
        searched = pending.count
        if searched > limit {
            (searched, isSkipping) = (0, true)
            throw .tooLarge(limit: limit)
        }
        if !isAtEnd { return .dry }
        if pending.isEmpty { return .end }
        defer { (pending, searched) = ([], 0) }
        return .line(Array(pending))
    }

    /// Blocks until more input was read, the input has ended, or a signal was handled; with `signals`, also where one
    /// has arrived before: each thread may get it, between the caller's own look at it and this call.
    ///
    /// System calls: read(2), poll(2).
    package mutating func wait(orUntil signals: TerminationSignals? = nil) throws(InputError) {
        while !isAtEnd {
            if let signals, !signals.waitForInput(of: descriptor) { return }
            do throws(Errno) {
                let count = try StandardStreams.read(descriptor, into: &buffer, count: buffer.count)
                if count > 0 {
                    pending += buffer[..<count]
                    return
                }
                isAtEnd = true
            } catch {
                switch error {
                case .tryAgain: _ = StandardStreams.wait(for: .readable, of: descriptor, milliseconds: nil)
                case .interrupted: return
                default: throw .failed(error)
                }
            }
        }
    }
}
