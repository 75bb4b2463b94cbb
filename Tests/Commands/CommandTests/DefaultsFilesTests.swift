import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `groupctl defaults import and export` {
    private static let sample = """
        import datetime
        sample = {
            "": "", "text": "a <b> & 'c' \\"d\\" ]]> \\t\\n ä😀 ", "key <&>": True, "no": False, "int": -2**63, "big": 2**63 - 1,
            "real": 0.1, "small": -1e-300, "whole": 2.0, "nested": [1, [], {}, ["x", {"y": [True, 1.5]}]],
            "dict": {"a": {"b": {"c": "d"}}, "é": 1},
        }
        typed = dict(sample, data=bytes(range(256)), empty=b"", when=datetime.datetime(2026, 11, 20, 10, 0, 59),
            long_ago=datetime.datetime(1, 1, 1))

        """

    private func python(_ container: TemporaryContainer, _ script: String, input: [UInt8] = []) async throws -> [UInt8]
    {
        let outcome = try await container.start("python3", ["-c", Self.sample + script], input: input).finish()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        return outcome.output
    }

    @Test(.needs("python3")) func `property lists are exchanged with Python's plistlib in both directions`()
        async throws
    {
        let container = try TemporaryContainer()
        let list = try await python(container, "import plistlib, sys; sys.stdout.buffer.write(plistlib.dumps(typed))")
        let imported = try await container.defaults("s", "import", "-", "--json", input: list)
        #expect(imported.text == #"{"outcome":"imported","keys":15}"# + "\n" && imported.status == 0, "\(imported)")
        let exported = try await container.defaults("s", "export", "--format", "plist")
        #expect(exported.status == 0, "\(exported)")
        let compared = try await python(
            container,
            "import plistlib, sys; got = plistlib.loads(sys.stdin.buffer.read()); print(got == typed or got)",
            input: exported.output)
        #expect(String(decoding: compared, as: UTF8.self) == "True\n")
        // An import of the exported text into another suite gives the same values.
        #expect(try await container.defaults("t", "import", "-", input: exported.output).status == 0)
        #expect(try await container.defaults("t", "export", "--format", "plist").output == exported.output)
        #expect(try await container.defaults("t", "list").text == container.defaults("s", "list").text)
    }

    @Test(.needs("python3")) func `a carriage return is kept through export and import of a property list`()
        async throws
    {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "k\r", "a\r\nb\r")
        let exported = try await container.defaults("s", "export", "--format", "plist")
        let script = "import plistlib, sys; print(plistlib.loads(sys.stdin.buffer.read()) == {'k\\r': 'a\\r\\nb\\r'})"
        #expect(try await python(container, script, input: exported.output) == Array("True\n".utf8))
        #expect(try await container.defaults("t", "import", "-", input: exported.output).status == 0)
        #expect(try await container.defaults("t", "export").text == #"{"k\r":"a\r\nb\r"}"# + "\n")
    }

    @Test(.needs("python3")) func `JSON is exchanged with Python's json in both directions`() async throws {
        let container = try TemporaryContainer()
        let json = try await python(
            container, "import json; print(json.dumps(dict(sample, nothing=None, mixed=[None, {'a': None}]), indent=2))"
        )
        let imported = try await container.defaults("s", "import", "-", input: json)
        #expect(imported.status == 0 && imported.output.isEmpty, "\(imported)")
        let exported = try await container.defaults("s", "export")
        #expect(exported.lines.count == 1)
        let script = """
            import json, sys
            got = json.load(sys.stdin)
            want = dict(sample, nothing=None, mixed=[None, {'a': None}])
            print(got == want and type(got["whole"]) == float and list(got) == sorted(got) or got)
            """
        let compared = try await python(container, script, input: exported.output)
        #expect(String(decoding: compared, as: UTF8.self) == "True\n")
        #expect(try await container.defaults("t", "import", "-", input: exported.output).status == 0)
        #expect(try await container.defaults("t", "export").output == exported.output)
    }

    @Test func `import keeps other keys and is one change`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "--type", "int", "kept", "1")
        let file = container.directory + "/file.json"
        try "\u{FEFF} {\"a\": 1, \"b\": 2}".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await container.defaults("s", "import", file).status == 0)
        #expect(try await container.defaults("s", "export").text == #"{"a":1,"b":2,"kept":1}"# + "\n")
        let changes = try await container.watch("--defaults", "s", "--since", "start", "--json", "-n", "3").finish()
        let printed = try changes.lines.map { try JSONKeyChange($0) }
        #expect(
            printed.map(\.key) == ["kept", "a", "b"] && printed[1].transaction?.count == 2
                && printed[2].transaction?.index == 1)
        #expect(printed[1].sequence == printed[2].sequence && printed[1].cursor == printed[2].cursor)
        #expect(try await container.defaults("s", "import", "-", input: "{}").status == 0)
    }

    @Test(
        arguments: [
            ("{\"a\": 1,\n\"b\": }", 65, "line 2: expected a value"),
            ("{\"a\": 1, \"a\": 2}", 65, "the name 'a' appears twice"),
            ("[1]", 65, "expected an object with keys and values"), ("", 65, "a property list begins with <plist>"),
            (
                "<plist><dict><key>a</key><integer>1</integer>\n<key>b</key><set/></dict></plist>", 65,
                "line 2: the element <set>"
            ),
            ("bplist00\u{1}", 65, "binary property list"),
            ("{\"a\": 1, \"b\": \(String(repeating: "[", count: 65))", 65, "nested"),
            ("{\"a\": 1, \"\(String(repeating: "k", count: 1_025))\": 1}", 1, "a key has 1025 bytes"),
        ])
    func `import sets all keys of a file, or none and reports the fault`(
        content: String, status: Int32, message: String
    ) async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "a", "before")
        let outcome = try await container.defaults("s", "import", "-", input: content)
        #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome)")
        #expect(try await container.defaults("s", "list").text == "a\tbefore\n")
    }

    @Test func `import names the file that is missing or invalid`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/file"
        let missing = try JSONError(try await container.defaults("s", "import", file, "--json"))
        #expect(missing.code == "notFound" && missing.item == file && missing.operation == "import")
        try "{".write(toFile: file, atomically: false, encoding: .utf8)
        let bad = try JSONError(try await container.defaults("s", "import", file, "--json"))
        #expect(bad.code == "invalidContent" && bad.item == file && bad.cause.hasPrefix("line 1: "))
        #expect(bad.cause.hasSuffix("; nothing was imported"))
    }

    @Test func `export names the key whose value a property list cannot represent`() async throws {
        let container = try TemporaryContainer()
        for (value, cause) in [("[null]", "a property list has no null"), (#""\u0001""#, "XML cannot hold")] {
            _ = try await container.defaults("s", "set", "--type", "json", "k", value)
            let outcome = try await container.defaults("s", "export", "--format", "plist")
            #expect(
                outcome.status == 65 && outcome.errors.contains("'s: k' in '\(container.path)': \(cause)"), "\(outcome)"
            )
            #expect(outcome.output.isEmpty)
        }
    }
}
