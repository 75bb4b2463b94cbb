/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers in every run, so that a failure comes again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// Flips, cuts, inserts and overwrites.
func mutated(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<4, using: &generator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let byte = UInt8.random(in: .min ... .max, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << (byte & 7)
        case 1: bytes.insert(byte, at: place)
        case 2: bytes.removeSubrange(place...)
        default: if place < bytes.count { bytes[place] = byte }
        }
    }
    return bytes
}
