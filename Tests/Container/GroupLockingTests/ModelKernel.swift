@testable import GroupLocking

/// A model of the kernel's byte locks.
struct ModelKernel {
    private struct Lock {
        var owner: Int
        var start: Int64
        var last: Int64
        var isShared: Bool
    }
    private var held: [Lock] = []
    private var waiting: [Lock] = []
    /// Whether waiters are granted in the order in which they came; otherwise they are woken, and race.
    var handsOver = true

    func isWaiting(_ owner: Int) -> Bool { waiting.contains { $0.owner == owner } }

    private func conflicts(_ lock: Lock) -> [Lock] {
        held.filter {
            $0.owner != lock.owner && $0.start <= lock.last && lock.start <= $0.last && !($0.isShared && lock.isShared)
        }
    }

    mutating func tryLock(_ owner: Int, _ start: Int64, _ length: Int64, isShared: Bool) -> Bool {
        let lock = Lock(owner: owner, start: start, last: start + (length - 1), isShared: isShared)
        if !conflicts(lock).isEmpty { return false }
        held.append(lock)
        return true
    }

    mutating func wait(_ owner: Int, _ start: Int64, _ length: Int64, isShared: Bool) {
        waiting.append(Lock(owner: owner, start: start, last: start + (length - 1), isShared: isShared))
        grant()
    }

    func conflict(_ owner: Int, _ start: Int64, _ length: Int64) -> Int64? {
        conflicts(Lock(owner: owner, start: start, last: start + (length - 1), isShared: false)).first?.start
    }

    mutating func unlock(_ owner: Int, _ start: Int64, _ length: Int64) -> Bool {
        let last = start + (length - 1)
        held = held.flatMap { lock -> [Lock] in
            if lock.owner != owner || lock.last < start || last < lock.start { return [lock] }
            var rest: [Lock] = []
            if lock.start < start {
                rest.append(Lock(owner: owner, start: lock.start, last: start - 1, isShared: lock.isShared))
            }
            if last < lock.last {
                rest.append(Lock(owner: owner, start: last + 1, last: lock.last, isShared: lock.isShared))
            }
            return rest
        }
        grant()
        return true
    }

    mutating func unlock(all owner: Int) {
        held.removeAll { $0.owner == owner }
        waiting.removeAll { $0.owner == owner }
        grant()
    }

    /// Lets a woken waiter try again, whichever waiters came before it.
    mutating func retry(_ owner: Int) {
        guard let index = waiting.firstIndex(where: { $0.owner == owner }), conflicts(waiting[index]).isEmpty else {
            return
        }
        held.append(waiting.remove(at: index))
    }

    private mutating func grant() {
        if !handsOver { return }
        var index = 0
        while index < waiting.count {
            if conflicts(waiting[index]).isEmpty {
                held.append(waiting.remove(at: index))
            } else {
                index += 1
            }
        }
    }
}
