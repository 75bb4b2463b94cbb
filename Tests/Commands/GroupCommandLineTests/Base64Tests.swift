import GroupCommandLine
import Testing

struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Base64 encodes the examples of RFC 4648`(text: String, expected: String) {
        #expect(Base64.encoded(bytes(text)) == expected)
    }

    @Test func `Base64 uses the standard alphabet`() {
        #expect(Base64.encoded([0xFB, 0xFF, 0xFE, 0xFF]) == "+//+/w==")
    }
}
