import Testing

@testable import GroupContainer

private func canonical(_ text: String, _ numbers: CanonicalJSON.Numbers = .byValue) -> String? {
    CanonicalJSON.canonical(Array(text.utf8), numbers).map { String(decoding: $0, as: UTF8.self) }
}

@Suite struct `Canonical JSON` {
    @Test(arguments: [
        (#" {"b" : 1 , "a":[ true,null , false]} "#, #"{"a":[true,null,false],"b":1}"#),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#),
        (#"{"\u00e4":1,"z":2,"\ud83d\ude00":3}"#, #"{"z":2,"ä":1,"😀":3}"#),
        (#""\u0041\/\"\\\b\f\n\r\t\u0001\u001F\u007f""#, #""A/\"\\\b\f\n\r\t\u0001\u001f"# + "\u{7f}\""),
        (#""\uD800 \ud800\u0041 \uDC00""#, #""\ud800 \ud800A \udc00""#),
        ("[]", "[]"), ("{ }", "{}"), (#""""#, #""""#),
        // Numbers, by their decimal value.
        ("1.0", "1"), ("-0", "0"), ("0.000", "0"), ("-0e5", "0"), ("100", "100"), ("1e2", "100"), ("1E+2", "100"),
        ("12.50", "12.5"), ("0.1", "0.1"), ("1e-1", "0.1"), ("-0.0015", "-0.0015"), ("1.5e-7", "1.5e-7"),
        ("0.000001", "0.000001"), ("0.0000001", "1e-7"), ("1e21", "1000000000000000000000"),
        ("-1e20", "-100000000000000000000"),
        ("1.234e30", "1234000000000000000000000000000"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("9007199254740993", "9007199254740993"), ("0.1234567890123456789012", "0.1234567890123456789012"),
        ("1.5e4096", "1.5e+4096"), ("1e5000", "1e+5000"), ("25e-5001", "2.5e-5000"),
    ])
    func `texts of the same value have one form, and no digit is lost`(text: String, form: String) {
        #expect(canonical(text) == form)
        #expect(canonical(form) == form, "the form is its own form")
    }

    @Test(arguments: [
        ("1", "1"), ("1.0", "1.0"), ("10e-1", "1.0"), ("0.0", "0.0"), ("-0", "0"), ("1e2", "100.0"), ("2.50", "2.5"),
        ("12345678901234567890", "12345678901234567890"), ("1e5000", "1e+5000"), ("[2.0, 2]", "[2.0,2]"),
    ])
    func `what is stored keeps whether a number is written as a whole one`(text: String, form: String) {
        #expect(canonical(text, .byKind) == form && canonical(form, .byKind) == form)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", #"{"a"}"#, #"{"a":}"#, "01", "1.", ".5", "1e", "-", "+1", "tru", "nul", "[1 2]", "1 1",
        #"""#,
        #""\x""#, #""\u12""#, "\"\u{1}\"", "'a'", "NaN", String(repeating: "[", count: 513), "1e99999999999",
    ])
    func `what is not JSON has no form`(text: String) {
        #expect(canonical(text) == nil)
        let value = DefaultsValue.json(Array(text.utf8))
        #expect(value.canonical == value, "its bytes are kept")
    }

    @Test func `bytes that are not UTF-8 have no form`() {
        #expect(CanonicalJSON.canonical([0x22, 0xFF, 0x22], .byValue) == nil)
        let deep = Array(repeating: UInt8(0x5B), count: 512) + Array(repeating: 0x5D, count: 512)
        #expect(CanonicalJSON.canonical(deep, .byValue) == deep)
    }

    @Test func `values are the same by what they mean`() {
        let json = DefaultsValue.json(Array(#"{"b": [1.0, "x"], "a": true}"#.utf8))
        #expect(json.isSame(as: ["a": true, "b": [1, "x"]]))
        #expect(DefaultsValue.dictionary(["a": .bool(true), "b": [1, "x"]]).isSame(as: json))
        #expect(!json.isSame(as: ["a": 1, "b": [1, "x"]]))
        #expect(DefaultsValue.integer(1).isSame(as: .double(1)) && DefaultsValue.float(0.5).isSame(as: .double(0.5)))
        #expect(!DefaultsValue.integer(1).isSame(as: .double(1.5)) && !DefaultsValue.integer(1).isSame(as: .bool(true)))
        #expect(!DefaultsValue.integer(.max).isSame(as: .double(0x1p63)))
        #expect(!DefaultsValue.string("1").isSame(as: .string("1.0")) && !DefaultsValue.string("1").isSame(as: 1))
        #expect(DefaultsValue.array([1, ["a": 2]]).isSame(as: [.double(1), ["a": .double(2)]]))
        #expect(
            !DefaultsValue.array([1]).isSame(as: [1, 2]) && !DefaultsValue.dictionary(["a": 1]).isSame(as: ["b": 1]))
    }

    @Test func `what one program has set, another one can compare and set`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        // As programs in Swift, through `serve`, and in Python set the same value.
        let forms: [DefaultsValue] = [
            ["name": "x", "size": 1], .json(Array(#"{"name":"x","size":1}"#.utf8)),
            .json(Array(#"{"size": 1.0, "name": "x"}"#.utf8)),
        ]
        for stored in forms {
            for expected in forms {
                try defaults.set(stored, forKey: "k")
                #expect(try defaults.compareAndSet(forKey: "k", from: expected, to: expected), "\(stored) \(expected)")
                #expect(try !defaults.compareAndSet(forKey: "k", from: ["name": "y", "size": 1], to: nil))
            }
        }
        let form = DefaultsValue.json(Array(#"{"name":"x","size":1.0}"#.utf8))
        try defaults.set(forms[2], forKey: "k")
        #expect(defaults.value(forKey: "k") == form)
        try defaults.transaction { $0.set([forms[2]], forKey: "list") }
        #expect(defaults.value(forKey: "list") == [form])
    }
}
