import GroupBytes
import GroupSystemCalls

/// The mounts inside a container whose file system a process serves (FUSE). The end of such a process causes no event,
/// so the mounts are looked at from time to time, on another thread: a server that hangs must not hold up the leader.
struct ServedMounts {
    private static let period: Int64 = 5_000_000_000

    private struct State: Sendable {
        var isLooking = false
        /// Those whose file system failed, and were not taken yet.
        var failed: [Mount] = []
    }
    private let state = Guarded(State())
    private var mounts: [Mount] = []
    private var next = Int64.max

    /// Looks at these mounts from now on.
    mutating func set(_ all: Set<Mount>) {
        mounts = all.filter(\.isServed)
        next = mounts.isEmpty ? .max : monotonicNanoseconds() + Self.period
    }

    /// The time until the next look, in nanoseconds; nil where there is none.
    var timeUntilNext: Int64? { next == .max ? nil : max(0, next - monotonicNanoseconds()) }

    /// Returns the mounts whose file system was found to fail since the last call, and has another thread look at all
    /// when it is time.
    mutating func take(in container: OpenContainer) -> [Mount] {
        take(at: monotonicNanoseconds()) { Self.fails($0, in: container) }
    }

    mutating func take(at now: Int64, _ fails: @escaping @Sendable (Mount) -> Bool) -> [Mount] {
        if mounts.isEmpty { return [] }
        let failed = state.withLock { state in
            defer { state.failed = [] }
            return state.failed
        }
        // A mount that fails is looked at again when it is unmounted.
        mounts.removeAll(where: failed.contains)
        if mounts.isEmpty { next = .max }
        if now < next { return failed }
        next = now + Self.period
        let begins = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if !begins { return failed }
        let (mounts, state) = (mounts, state)
        do throws(Errno) {
            try WorkThread.start {
                let failed = mounts.filter(fails)
                state.withLock { $0 = State(isLooking: false, failed: failed) }
                if !failed.isEmpty { EventLoop.shared.wake() }
            }
        } catch {
            state.withLock { $0.isLooking = false }
        }
        return failed
    }

    /// System calls: openat2(2), fstatfs(2), which asks the server
    private static func fails(_ mount: Mount, in container: OpenContainer) -> Bool {
        do throws(Errno) {
            _ = try container.directory(at: mount.location).descriptor.fileSystemType()
            return false
        } catch {
            return error == .notConnected
        }
    }
}
