/// Returns bytes from the kernel's generator. System calls: getrandom(2)
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

package func randomWord() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
}
