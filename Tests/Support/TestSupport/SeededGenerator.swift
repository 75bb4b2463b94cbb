import Foundation

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers in every run, so that a failure comes again.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// Returns the value of an environment variable as a number.
package func environmentNumber(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
}

/// The seed of the faults: the same in each run, unless GROUP_CONTAINER_SEED is another.
package let faultSeed = environmentNumber("GROUP_CONTAINER_SEED") ?? 1
