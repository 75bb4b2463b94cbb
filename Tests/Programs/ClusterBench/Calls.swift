import Cluster
import Dispatch
import Glibc
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// Returns 120 bytes that differ from those of all other numbers.
private func content(_ number: Int) -> [UInt8] {
    let digits = Array("\(number)".utf8)
    return digits + [UInt8](repeating: UInt8(ascii: "."), count: max(0, 120 - digits.count))
}

/// Writes items in turns: on this machine, or, without a durability, on all machines of the cluster. The first three
/// writes are not measured: the first ones of a process are slower.
func write(into directory: String, items: Int, count: Int, _ durability: Durability?) throws {
    let container = try Container(path: directory)
    let coordinator = container.coordinator(purpose: "cluster-bench").blocking
    let cluster = container.cluster(purpose: "cluster-bench").blocking
    var times: [Int64] = []
    for number in -3..<count {
        let item = ItemPath("item-\(abs(number) % items)")
        let began = monotonicNanoseconds()
        if let durability {
            try coordinator.write(bytes: content(number), to: item, durability: durability)
        } else {
            try cluster.write(bytes: content(number), to: item)
        }
        if number >= 0 { times.append(monotonicNanoseconds() - began) }
    }
    times.forEach { print($0) }
}

/// Puts a value into etcd again and again, as `write` does an item.
func put(_ configuration: EtcdConfiguration, count: Int) throws {
    let client = EtcdClient(configuration)
    var times: [Int64] = []
    for number in -3..<count {
        let began = monotonicNanoseconds()
        try client.transaction(then: [.put(Array("item".utf8), content(number))])
        if number >= 0 { times.append(monotonicNanoseconds() - began) }
    }
    times.forEach { print($0) }
}

/// Puts a value, and waits until a watch of this process has it.
func watch(_ configuration: EtcdConfiguration, count: Int, pause: Int64) throws {
    let client = EtcdClient(configuration)
    let watch = EtcdWatch(configuration, prefix: Array("item".utf8), from: 0)
    let arrived = Guarded<Int64>(0)
    let woken = DispatchSemaphore(value: 0)
    try WorkThread.start {
        try? watch.run { response in
            let now = monotonicNanoseconds()
            // The first response, which has no events, shows that the watch stands.
            arrived.withLock { $0 = now }
            for _ in 0..<max(1, response.events.count) { woken.signal() }
            return true
        }
        woken.signal()
    }
    woken.wait()
    var times: [Int64] = []
    for number in -3..<count {
        let began = monotonicNanoseconds()
        try client.transaction(then: [.put(Array("item".utf8), content(number))])
        woken.wait()
        if number >= 0 { times.append(arrived.withLock { $0 } - began) }
        pace(until: monotonicNanoseconds() + pause)
    }
    watch.cancel()
    times.forEach { print($0) }
}

/// Waits for a time of the monotonic clock.
func pace(until moment: Int64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}  // allowed: a pace
}
