import FoundationEssentials
import GroupCommandLine
import GroupContainer
import Testing

@testable import GroupCommands

@Suite struct `A property list` {
    private func read(_ body: String) throws -> [String: DefaultsValue] {
        try PropertyList.members(of: Array("<plist version=\"1.0\">\n\(body)</plist>".utf8))
    }

    private func read(value: String) throws -> DefaultsValue? { try read("<dict><key>k</key>\(value)</dict>")["k"] }

    @Test(
        arguments: [
            ("<true/>", .bool(true)), ("<false></false>", .bool(false)), ("<integer>-12</integer>", .integer(-12)),
            ("<integer> +5\n</integer>", .integer(5)), ("<integer>0x1F</integer>", .integer(31)),
            ("<integer>-9223372036854775808</integer>", .integer(.min)), ("<real>1e3</real>", .double(1_000)),
            ("<real>+infinity</real>", .double(.infinity)),
            ("<date>2001-01-01T00:00:01Z</date>", .date(Date(timeIntervalSinceReferenceDate: 1))),
            ("<data>\n\taG\n\tk=\n</data>", .data([0x68, 0x69])), ("<data/>", .data([])), ("<string/>", .string("")),
            ("<string>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;&#13;\r\n</string>", .string("<&>\"'A😀\r\n")),
            ("<string>a<!-- <b> -->b<![CDATA[<&\n]]>c</string>", .string("ab<&\nc")), ("<array/>", .array([])),
            ("<array><dict/><true/></array>", .array([.dictionary([:]), .bool(true)])),
            ("<dict><key/><string> x </string></dict>", .dictionary(["": .string(" x ")])),
        ] as [(String, DefaultsValue)])
    func `each type of value is read from a property list`(text: String, expected: DefaultsValue) throws {
        #expect(try read(value: text) == expected)
    }

    @Test func `a property list may have a prolog, a document type and comments`() throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
            <!-- a > b -->
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version='1.0' ><dict ><key>a</key ><true /></dict></plist>

            """
        #expect(try PropertyList.members(of: Array(text.utf8)) == ["a": .bool(true)])
    }

    @Test(
        arguments: [
            ("<dict><key>a</key>\n<strong>b</strong></dict>", 3, "the element <strong> is unknown"),
            ("<dict><key>a</key><true/>\n<key>a</key><true/></dict>", 3, "the key 'a' appears twice"),
            ("<dict>\n<true/></dict>", 3, "expected a <key>"),
            ("<dict><key>a</key></dict>", 2, "a value is missing"),
            ("<dict>\n\nx</dict>", 4, "unexpected text between elements"), ("<array/>", 2, "expected a <dict>"),
            ("<dict><key>a</key><string>b</dict>", 2, "</dict> does not end <string>"),
            ("<dict>\n", 3, "expected a <key>"),
            ("<dict><key>a</key><integer>1.5</integer></dict>", 2, "'1.5' is not a valid <integer>"),
            ("<dict><key>a</key><integer>9223372036854775808</integer></dict>", 2, "is not a valid <integer>"),
            ("<dict><key>a</key><real/></dict>", 2, "'' is not a valid <real>"),
            ("<dict>\n<!-- a", 3, "a comment does not end"),
            ("<dict><key>a</key><date>2001-13-01T00:00:00Z</date></dict>", 2, "is not a valid <date>"),
            ("<dict><key>a</key><data>a</data></dict>", 2, "is not a valid <data>"),
            ("<dict><key>&b;</key>", 2, "'&b;' is unknown"),
            ("<dict><key>a & b</key>", 2, "an '&'"), ("<dict><key>&#0;</key>", 2, "U+0 is not allowed"),
            ("<dict><key>\u{1}</key>", 2, "U+1 is not allowed"), ("<dict a=\"b\">", 2, "an unknown attribute 'a'"),
            ("<dict a=b>", 2, "no value in quotes"), ("<dict", 2, "does not end"), ("<dict><key>]]></key>", 2, "']]>'"),
            ("<dict/>\n<dict/>", 3, "expected </plist>"),
            ("<dict/></plist>\n<a/>", 3, "unexpected text after </plist>"),
            ("<dict><key>a</key><true>x</true></dict>", 2, "<true> must be empty"), ("< a>", 2, "begins no element"),
        ])
    func `a malformed property list is refused with the line and the reason`(body: String, line: Int, what: String)
        throws
    {
        let fault = #expect(throws: TextFault.self) { try read(body) }
        #expect(fault?.line == line && fault?.what.contains(what) == true, "\(fault?.description ?? "")")
    }

    @Test(
        arguments: [
            ("bplist00", "binary"), ("", "begins with <plist>"), ("hello", "unexpected text between"),
            ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>", "declarations"),
            ("<?xml encoding=\"UTF-16\"?>", "the encoding is utf-16"),
            ("<plist version=\"2.0\"><dict/></plist>", "'2.0', not 1.0"), ("<plist/>", "begins with <plist>"),
        ])
    func `another format than an XML property list is refused with its own reason`(text: String, what: String) throws {
        let fault = #expect(throws: TextFault.self) { try PropertyList.members(of: Array(text.utf8)) }
        #expect(fault?.what.contains(what) == true, "\(fault?.description ?? "")")
    }

    @Test func `a property list may be as deep as a value, and not deeper`() throws {
        let deepest = DefaultsValue.maximumDepth
        func nested(_ depth: Int) -> String {
            String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
        }
        #expect(try read(value: nested(deepest)) != nil)
        let fault = #expect(throws: TextFault.self) { try read(value: nested(deepest + 1)) }
        #expect(fault?.what.contains("nested more than 64") == true)
        #expect(throws: TextFault.self) { try read(value: String(repeating: "<array>", count: 100_000)) }
    }

    @Test func `a written property list is read as the same values`() throws {
        let members: [String: DefaultsValue] = [
            "": .string("\r\n\t<&>\"'😀"), "<k>": .bool(false), "i": .integer(.min), "r": .double(0.1),
            "n": .double(-.infinity),
            "d": .date(Date(timeIntervalSinceReferenceDate: -1_000_000)),
            "b": .data([UInt8](repeating: 0xFB, count: 200)), "e": .dictionary([:]),
            "a": .array([.array([]), .dictionary(["x": .array([.integer(1)])]), .data([])]),
        ]
        #expect(try PropertyList.members(of: Array(PropertyList.text(of: members).utf8)) == members)
    }

    @Test(
        arguments: [
            (.string("\u{1}"), "U+1"), (.json(Array("[null]".utf8)), "no null"),
            (.unknown(kind: 99, []), "a newer version"),
            (.date(Date(timeIntervalSinceReferenceDate: 1e15)), "four digits"),
            (.array([.string("\u{FFFF}")]), "U+FFFF"),
        ] as [(DefaultsValue, String)])
    func `a value that a property list cannot represent is refused with the reason`(value: DefaultsValue, what: String)
    {
        let fault = #expect(throws: PropertyList.Fault.self) {
            try PropertyList.text(of: ["a": .bool(true), "k": value])
        }
        #expect(fault?.key == "k" && fault?.cause.description.contains(what) == true)
    }
}

@Suite struct `A date as text` {
    @Test(
        arguments: [
            ("2001-01-01T00:00:00Z", 0), ("2026-11-20T10:00:00Z", 816_861_600), ("1970-01-01T00:00:00Z", -978_307_200),
            ("2000-02-29T23:59:59Z", -26438401), ("2001-01-01T00:00:00.25Z", 0.25),
            ("0004-02-29T00:00:00Z", -63014198400),
            ("9999-12-31T23:59:59.5Z", 252_423_993_599.5), ("2000-12-31T23:59:59.5Z", -0.5),
            ("0000-01-01T00:00:00Z", -63145526400),
        ] as [(String, Double)])
    func `a date is written as its text and read back`(text: String, seconds: Double) {
        #expect(DateText.seconds(of: text) == seconds)
        #expect(DateText.text(of: seconds) == text)
    }

    @Test(
        arguments: [
            "", "2001-01-01", "2001-01-01T00:00:00", "2001-02-29T00:00:00Z", "2001-00-01T00:00:00Z",
            "2001-01-00T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:60Z",
            "2001-01-01T00:00:00.Z", "2001-01-01 00:00:00Z", "+001-01-01T00:00:00Z", "1900-02-29T00:00:00Z",
            "2001-01-01T00:00:00+01:00Z", "x001-01-01T00:00:00Z",
        ])
    func `a malformed date is not read`(text: String) { #expect(DateText.seconds(of: text) == nil) }

    @Test(
        arguments: [
            ("9999-12-31T23:59:59.999999Z", nil), ("2300-01-01T00:00:00.123456Z", "2300-01-01T00:00:00.123455Z"),
            ("0001-01-01T00:00:00.000001Z", "0001-01-01T00:00:00Z"),
        ] as [(String, String?)])
    func `a date that would come back as another one is refused, and the nearest named`(text: String, nearest: String?)
    {
        let fault = #expect(throws: ValueType.Fault.self) { try ValueType.date.value(of: Array(text.utf8)) }
        #expect(fault?.description.contains("has more digits than a date of that year can keep") == true)
        #expect(fault?.description.contains("; the nearest one that can be kept is ") == (nearest != nil))
        #expect(nearest.map { fault?.description.hasSuffix($0) == true && DateText.keeps($0) } ?? true)
    }

    @Test(arguments: [
        "2026-11-20T10:00:00.123456Z", "2026-11-26T23:06:33.123456789Z", "2026-11-26T23:06:33.9999995Z",
        "2272-12-31T23:59:59.999999Z", "1729-01-01T00:00:00.000001Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.500000Z",
    ])
    func `a date that comes back is kept`(text: String) { #expect(DateText.keeps(text)) }

    @Test func `a date with a year of more than four digits has no text`() {
        for seconds in [1e12, -1e12, .nan, .infinity, 252_423_993_600, -63145526401] {
            #expect(DateText.text(of: seconds) == nil)
        }
    }
}
