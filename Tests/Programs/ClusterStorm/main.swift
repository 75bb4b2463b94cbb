// A storm over a cluster: machines, nodes of etcd, users, and what goes wrong between them.
import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport

let usage = """
    usage: cluster-storm rage SECONDS SEED [OPTION…]   run a storm, and print all faults at the end
           cluster-storm worker KIND CONTAINER NAME LIFE SEED AWAY [OPTION]
                                               change items until the input is closed; KIND is plain, strict, data,
                                               rename or slow

    """

struct StormOptions {
    var seconds: Int
    var seed: UInt64
    var strictUsers = 2
    /// A user says 'accepted' for a conflict: the checker must find that.
    var lies = false
    /// etcd is restored from a backup in the end.
    var restores = false
    /// The library through which the clock of one machine's program jumps (libfaketime).
    var clockLibrary: String?
    /// The nodes of etcd are parted from each other, each in a network namespace.
    var partsNodes = false
    /// The users of each machine that know nothing of the cluster.
    var plainUsers = 2
}

struct WrongUsage: Error {}

let words = CommandLine.arguments
do {
    switch words.dropFirst().first {
    case "rage" where words.count >= 4:
        guard let seconds = Int(words[2]), let seed = UInt64(words[3]) else { throw WrongUsage() }
        try rage(
            StormOptions(
                seconds: seconds, seed: seed, lies: words.contains("lies"),
                restores: words.contains("restores"),
                clockLibrary: words.first { $0.hasPrefix("clock=") }.map { String($0.dropFirst(6)) },
                partsNodes: words.contains("parts"),
                plainUsers: words.first { $0.hasPrefix("users=") }.flatMap { Int($0.dropFirst(6)) } ?? 2))
    case "worker" where words.count >= 8:
        let worker = Worker(words[3], words[4], life: Int(words[5]) ?? 0, seed: UInt64(words[6]) ?? 1)
        switch words[2] {
        case "plain": try PlainUser(worker, away: words[7]).work()
        case "data": try DataUser(worker).work()
        case "rename": try RenamingUser(worker).work()
        case "slow": try SlowUser(worker).work()
        case "strict": try StrictUser(worker, lies: words.contains("lies")).work()
        default: throw WrongUsage()
        }
    default: throw WrongUsage()
    }
} catch is WrongUsage {
    print(usage, terminator: "")
    exit(64)
} catch {
    printLine("fault \(error)")
    exit(1)
}

func rage(_ options: StormOptions) throws {
    printLine("cluster-storm: seed \(options.seed), \(options.seconds) s")
    let storm = try ClusterStorm(options)
    var faults: [String] = []
    do {
        try storm.rage()
        faults += try storm.calm()
        faults += try storm.faults()
        if faults.isEmpty && options.restores { faults += try storm.restore() }
    } catch let interrupted as ClusterStorm.Interrupted {
        storm.endAll()
        storm.clean()
        printLine("cluster-storm: ended by a signal before its time; nothing was looked at")
        exit(128 + interrupted.signal)
    } catch {
        faults.append("the storm itself failed: \(error)")
    }
    printLine("cluster-storm: \(storm.summary())")
    storm.endAll()
    if faults.isEmpty {
        storm.clean()
        return
    }
    storm.keep()
    for fault in faults.prefix(30) { printLine(String(fault.prefix(1_500))) }
    printLine("cluster-storm: \(faults.count) faults; seed \(options.seed); see \(storm.directory)")
    exit(1)
}
