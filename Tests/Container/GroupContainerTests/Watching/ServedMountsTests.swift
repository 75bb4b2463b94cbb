import GroupSystemCalls
import Testing

@testable import GroupContainer

@Suite struct `Mounts that a process serves` {
    @Test func `the last mount is looked at until it fails, and then never again`() throws {
        let mount = Mount(identifier: 1, source: [], location: try ItemLocation(Array("m".utf8)), isServed: true)
        let other = Mount(identifier: 2, source: [], location: try ItemLocation(Array("n".utf8)))
        var mounts = ServedMounts()
        #expect(mounts.timeUntilNext == nil)
        mounts.set([mount, other])
        #expect(mounts.timeUntilNext != nil)
        var now = monotonicNanoseconds()
        let looks = Guarded([UInt64]())
        var failed: [Mount] = []
        while failed.isEmpty {
            now += 10_000_000_000
            failed = mounts.take(at: now) { mount in
                looks.withLock { $0.append(mount.identifier) }
                return true
            }
        }
        #expect(failed == [mount] && looks.withLock { Set($0) } == [1])
        #expect(mounts.timeUntilNext == nil)
    }
}
