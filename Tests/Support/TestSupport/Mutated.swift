/// Returns the bytes with random flips, cuts, insertions and overwrites.
package func mutated(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
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
