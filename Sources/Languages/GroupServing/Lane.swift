import GroupSystemCalls

/// Work that is done in the order in which it comes, one after the other, on a thread that is there only while there is
/// work. One thread adds to it. A lane that is made closed does its work from `open()` on.
final class Lane: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State: Sendable {
        var waiting: [Work] = []
        var isWorking: Bool
    }
    private let state: Guarded<State>

    init(isClosed: Bool = false) { state = Guarded(State(isWorking: isClosed)) }

    /// Lets a closed lane do its work, on the calling thread where there may be no further one.
    func open() {
        do throws(Errno) { try WorkThread.start { self.serve() } } catch { serve() }
    }

    /// Adds work. Error: there may be no further thread; the work is not done then.
    func add(_ work: @escaping Work) throws(Errno) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if !isFirst { return }
        do throws(Errno) { try WorkThread.start { self.serve() } } catch {
            // This is the only work: no other thread adds to the lane.
            state.withLock { $0 = State(isWorking: false) }
            throw error
        }
    }

    private func serve() {
        while let works = takeWaiting() {
            for work in works { work() }
        }
    }

    private func takeWaiting() -> [Work]? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isWorking = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
