import GroupCommandLine
import Testing

struct JSONTextTests {
    @Test(arguments: [
        (JSONValue.null, "null"), (.bool(true), "true"), (.bool(false), "false"),
        (.integer(.min), "-9223372036854775808"), (.unsigned(.max), "18446744073709551615"), (.double(0.1), "0.1"),
        (.double(1e300), "1e+300"), (.double(-0.0), "-0.0"), (.double(.leastNonzeroMagnitude), "5e-324"),
        (.double(.nan), "null"),
        (.double(.infinity), "null"), (.double(-.infinity), "null"), (.array([]), "[]"), (.object([]), "{}"),
    ])
    func `each kind of JSON value has its text`(value: JSONValue, expected: String) {
        #expect(value.encoded() == expected)
    }

    @Test(arguments: [
        ("", #""""#), (#"a"b\c/"#, #""a\"b\\c/""#), ("\n\r\t\u{8}\u{C}", #""\n\r\t\b\f""#), ("\r\n", #""\r\n""#),
        ("\0\u{1}\u{1F}", #""\u0000\u0001\u001f""#), ("é😀\u{A0}€", "\"é😀\u{A0}€\""),
        ("\u{2027}\u{2028}\u{2029}\u{202A}", "\"\u{2027}\\u2028\\u2029\u{202A}\""),
        ("\u{7F}a\u{80}\u{9B}2J", #""\u007fa\u0080\u009b2J""#),
    ])
    func `a JSON string escapes what it must, and control characters`(text: String, expected: String) {
        #expect(JSONValue.string(text).encoded() == expected)
    }

    @Test func `a JSON object is written on one line with its members in order`() {
        let value: JSONValue = [
            "sequence": 41, "path": "a\nb", "from": nil, "by": ["pid": 812, "list": [1, true, []]], "a\"": "z",
        ]
        #expect(
            value.encoded()
                == #"{"sequence":41,"path":"a\nb","from":null,"by":{"pid":812,"list":[1,true,[]]},"a\"":"z"}"#)
    }

    @Test func `JSON values are equal only with the same kind, value and order`() {
        let value: JSONValue = ["a": 1, "b": [nil, "x", .double(1.5), .unsigned(2)]]
        #expect(value == ["a": 1, "b": [nil, "x", .double(1.5), .unsigned(2)]])
        #expect(value != ["b": [nil, "x", .double(1.5), .unsigned(2)], "a": 1])
        #expect(value != ["a": 1])
        #expect(JSONValue.integer(1) != .unsigned(1))
        #expect(JSONValue.bool(true) != .bool(false))
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(["\u{E9}": 1] as JSONValue != ["e\u{301}": 1])
    }
}
