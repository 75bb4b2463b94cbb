// tools/bench starts this for its rows about clusters: what has to be called in a process, beside bare etcd.
import Glibc
import GroupContainer
import GroupEtcd

let usage = """
    usage: cluster-bench write DIRECTORY ITEMS COUNT relaxed|durable|replicated
                                                  write ITEMS items of 120 bytes in turns; print the nanoseconds of each call
           cluster-bench put ENDPOINTS COUNT      put 120 bytes into etcd; print the nanoseconds of each call
           cluster-bench watch ENDPOINTS COUNT NANOSECONDS
                                                  put 120 bytes, with such pauses; print the nanoseconds until a watch has each
           cluster-bench machines ENDPOINTS NUMBER RATE SECONDS
                                                  let so many machines be in a cluster, of which at most 10 commit, RATE entries
                                                  a second together; print "begin", "end", the number of commits, of failed
                                                  requests and of entries that a machine did not get; then the nanoseconds from
                                                  each commit until the last machine has it

    """

let words = CommandLine.arguments
func number(_ place: Int) -> Int { words.count > place ? Int(words[place]) ?? 0 : 0 }
func endpoints() throws(EtcdFailure) -> EtcdConfiguration {
    try EtcdConfiguration(endpoints: words[2].split(separator: ",").map { String($0) })
}

do {
    switch (words.dropFirst().first, words.count) {
    case ("write", 6):
        let durabilities: [String: Durability?] = ["relaxed": .relaxed, "durable": .durable, "replicated": nil]
        guard let durability = durabilities[words[5]] else { fallthrough }
        try write(into: words[2], items: max(1, number(3)), count: number(4), durability)
    case ("put", 4): try put(try endpoints(), count: number(3))
    case ("watch", 5): try watch(try endpoints(), count: number(3), pause: Int64(number(4)))
    case ("machines", 6):
        try SimulatedMachines(
            endpoints(), count: max(1, number(3)), rate: max(1, number(4)), seconds: max(1, number(5))
        ).run()
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    print("cluster-bench: \(error)")
    exit(1)
}
