import Testing

@testable import GroupCommandLine

@Suite struct `A JSON reader` {
    private func read(_ text: String, deepest: Int = 8) throws -> JSONValue {
        try JSONReader.value(of: Array(text.utf8), deepest: deepest)
    }

    @Test(
        arguments: [
            ("null", .null), (" true\n", true), ("[]", []), ("{}", .object([])), ("-0", 0), ("12", 12),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .unsigned(1 << 63)),
            ("-9223372036854775809", .digits("-9223372036854775809")), ("18446744073709551615", .unsigned(.max)),
            ("123456789012345678901234567890", .digits("123456789012345678901234567890")), ("1e30", .double(1e30)),
            ("2.0", .double(2)),
            ("-1.5e2", .double(-150)), (#""a\"\\\/\b\f\n\r\t\u00e4\uD83D\uDE00ä""#, "a\"\\/\u{8}\u{C}\n\r\tä😀ä"),
            (#"{"b": [1, {"c" : null}], "a":"x"}"#, ["b": [1, ["c": nil]], "a": "x"]),
        ] as [(String, JSONValue)])
    func `a JSON text is read as its value, with members in their order`(text: String, expected: JSONValue) throws {
        #expect(try read(text) == expected)
    }

    @Test(
        arguments: [
            ("", 1, "the text ends where a value is expected"), ("[1,\n\n]", 3, "expected a value"),
            ("01", 1, "expected a value"),
            ("+1", 1, "expected a value"), ("1.", 1, "digits are missing"), ("1e", 1, "the exponent is missing"),
            ("1e999", 1, "too large"), ("{\"a\":1,\n\"a\":2}", 2, "the name 'a' appears twice"),
            ("{a:1}", 1, "a name"),
            ("{\"a\" 1}", 1, "a ':' is missing"), ("[1 2]", 1, "a ',' or a ']'"), ("{\"a\":1", 1, "a ',' or a '}'"),
            ("\"a\n\"", 1, "\\u000a"), ("\"a", 1, "does not end"), (#""\x""#, 1, "an escape sequence is unknown"),
            (#""\uD83D""#, 1, "half of a surrogate pair"), (#""\u12G4""#, 1, "four hexadecimal digits"),
            ("1 2", 1, "unexpected text after the value"), ("nul", 1, "expected a value"),
            ("[[[[[[[[[1]]]]]]]]]", 1, "nested more than 8"),
        ])
    func `a malformed JSON text is refused with the line and the reason`(text: String, line: Int, what: String) throws {
        let fault = #expect(throws: TextFault.self) { try read(text) }
        #expect(fault?.line == line && fault?.what.contains(what) == true, "\(fault?.description ?? "")")
    }

    @Test func `a million brackets and invalid UTF-8 are refused by the JSON reader`() throws {
        #expect(throws: TextFault.self) { try read(String(repeating: "[", count: 1_000_000)) }
        #expect(throws: TextFault.self) { try JSONReader.value(of: [0x22, 0xFF, 0x22], deepest: 8) }
    }
}

@Suite struct `Base64 coding` {
    @Test func `encoded bytes are the same after Base64 decoding`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            #expect(Base64.decoded(Base64.encoded(bytes).utf8) == bytes)
        }
        #expect(Base64.decoded(" aG\n k=\t".utf8) == Array("hi".utf8))
    }

    @Test(arguments: ["a", "aG", "aGk", "aG=k", "====", "a===", "aGk=aGk=", "aG-_", "ä"])
    func `malformed Base64 is not decoded`(text: String) { #expect(Base64.decoded(text.utf8) == nil) }
}

@Suite struct `Shell words of a line` {
    @Test(
        arguments: [
            ("", []), ("  \t", []), ("a b", ["a", "b"]), ("a'b c'd", ["ab cd"]), ("''", [""]), (#""""#, [""]),
            (#""a\"b\\c\$d\`e\n""#, ["a\"b\\c$d`e\\n"]), (#"a\ b x"#, ["a b", "x"]),
            (#"'\'"#, ["\\"]), ("#a", ["#a"]), ("$a *", ["$a", "*"]), ("ä", ["ä"]),
        ] as [(String, [String])])
    func `a line is split into words as by a shell`(line: String, words: [String]) throws {
        #expect(try ShellWords.of(Array(line.utf8)) == words.map { Array($0.utf8) })
    }

    @Test(
        arguments: [("'a", .openQuote("'")), ("\"a\\\"", .openQuote("\"")), ("a\\", .openBackslash)]
            as [(String, ShellWordsFault)])
    func `a line with an open quote or backslash is not split`(line: String, fault: ShellWordsFault) {
        #expect(throws: fault) { try ShellWords.of(Array(line.utf8)) }
    }
}
