import GroupBytes
import Testing
@testable import GroupContainer
@testable import GroupLocking

@Suite("Container locks")
struct ContainerLockTests {
    @Test func `the container's own locks are below those of the items`() {
        let key = SipHash(key: (1, 2))
        let own = (0..<3_000 as Range<UInt64>).flatMap { number in
            [
                ContainerLock.election(term: number), ContainerLock.leadership(term: number),
                ContainerLock.listening(to: "channel", as: "listener-\(number)", key: key),
                ContainerLock.presence(of: "name-\(number)", key: key),
            ]
        }
        let single = [ContainerLock.opening, ContainerLock.keeping, ContainerLock.removing]
        #expect((own + single).allSatisfy { $0 >= 0 && $0 < LockRange.all.first })
        #expect(Set(single + own.filter { $0 < 1 << 60 }).count == 3 + 2 * 1_024)
    }
}
