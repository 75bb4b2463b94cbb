import Foundation
import TestSupport
import Testing

extension TemporaryContainer {
    /// Runs `groupctl defaults WORD <this container> SUITE WORDS…` to its end.
    func defaults(
        _ suite: String = "s", _ words: any BytesConvertible..., input: any BytesConvertible = ""
    ) async throws -> RunningProcess.Outcome {
        try await start("groupctl", ["defaults"] + words.prefix(1) + [path, suite] + words.dropFirst(), input: input)
            .finish()
    }
}

@Suite(.tags(.process))
struct `groupctl defaults` {
    @Test func `get prints a string as it is, and other values as JSON`() async throws {
        let container = try TemporaryContainer()
        let samples: [(type: String, value: String, text: String, json: String)] = [
            ("string", "a \"b\"\nä", "a \"b\"\nä", #""a \"b\"\nä""#), ("int", "-5", "-5", "-5"),
            ("double", "2", "2.0", "2.0"),
            ("bool", "yes", "true", "true"), ("data", "aGk=", "aGk=", #""aGk=""#),
            ("date", "2026-11-20T10:00:00.5Z", "2026-11-20T10:00:00.5Z", #""2026-11-20T10:00:00.5Z""#),
            ("json", #"{"b":[1,null,2.0],"a":"x"}"#, #"{"a":"x","b":[1,null,2.0]}"#, #"{"a":"x","b":[1,null,2.0]}"#),
            (
                "json", "[9223372036854775808,-1234567890123456789012]",
                "[9223372036854775808,-1234567890123456789012]",
                "[9223372036854775808,-1234567890123456789012]"
            ),
            ("json", #"{"b":[1,2.0],"a":"x"}"#, #"{"a":"x","b":[1,2.0]}"#, #"{"a":"x","b":[1,2.0]}"#),
        ]
        for (type, value, text, json) in samples {
            let set = try await container.defaults("s", "set", "--type", type, "--", "k", value)
            #expect(set.status == 0 && set.output.isEmpty && set.errors == "", "\(set)")
            #expect(try await container.defaults("s", "get", "k").text == text + "\n")
            #expect(try await container.defaults("s", "get", "k", "--json").text == json + "\n")
        }
        #expect(try await container.defaults("other", "get", "k").status == 66, "suites are apart")
    }

    @Test func `get of a key that is not set ends with 66, or prints the default`() async throws {
        let container = try TemporaryContainer()
        let missing = try await container.defaults("s", "get", "k", "--json")
        #expect(missing.status == 66)
        let error = try JSONError(missing)
        #expect(error.code == "notFound" && error.item == "s: k" && error.operation == "get")
        #expect(try await container.defaults("s", "get", "k", "--default", "5").text == "5\n")
        #expect(try await container.defaults("s", "get", "k", "--default", "5", "--json").text == "\"5\"\n")
        #expect(try await container.defaults("s", "delete", "k").status == 66)
        #expect(try await container.defaults("s", "list").text == "")
        #expect(try await container.defaults("s", "list", "--json").text == "{}\n")
        #expect(try await container.defaults("s", "clear").status == 0)
        #expect(try await container.shell("ls \"$1/.group/defaults\"").output.isEmpty, "no suite was made for it")
        #expect(try await container.start("groupctl", ["defaults", "list", "./nowhere/", "s"]).finish().status == 66)
    }

    @Test(
        arguments: [
            ("set --type int k 1.5", "'1.5' is not an integer of 64 bits"),
            ("set --type int k 9223372036854775808", "is not an integer of 64 bits"),
            ("set --type double k nan", "is not a finite number"), ("set --type bool k perhaps", "is not a Boolean"),
            ("set --type date k 2026-11-20", "is not a date like 2026-11-20T10:00:00Z"),
            ("set --type data k a", "is not Base64"),
            ("set --type json k {", "not JSON: line 1"),
            ("set --type text k 1", "the types are string, int, double"),
            ("increment k many", "N: 'many' is not an integer"),
            ("export --format xml", "--format must be json or plist"),
            ("export --format plist --json", "exclude each other"), ("get", "missing KEY"), ("set k", "missing VALUE"),
            ("flsuh", "did you mean 'flush'?"), ("", "missing a command, one of: get, set, delete"),
        ])
    func `a wrong call of defaults is refused with the reason`(line: String, message: String) async throws {
        let container = try TemporaryContainer()
        let words = line.split(separator: " ").map(String.init)
        let suite = words.isEmpty ? [] : [container.path, "s"]
        let outcome = try await container.start(
            "groupctl", ["defaults"] + words.prefix(1) + suite + words.dropFirst()
        ).finish()
        #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
        #expect(try await container.defaults("s", "list").text == "")
    }

    @Test func `an invalid suite name and bytes that are not UTF-8 are refused`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.defaults("a/b", "list").status == 64)
        #expect(try await container.defaults("s", "set", "k", [0xFF] as [UInt8]).status == 64)
        #expect(try await container.defaults("s", "set", [0xFF] as [UInt8], "v").status == 64)
    }

    @Test func `set --if sets a key only if its value is unchanged`() async throws {
        let container = try TemporaryContainer()
        let nothing = try await container.defaults("s", "set", "--if", "a", "k", "b", "--json")
        #expect(nothing.status == 4)
        #expect(try JSONError(nothing).cause == "nothing is set")
        try await #expect(container.defaults("s", "set", "k", "5").status == 0)
        let other = try await container.defaults("s", "set", "--if", "4", "k", "b")
        #expect(other.status == 4 && other.errors.contains("the value is '5'"), "\(other)")
        #expect(try await container.defaults("s", "set", "--if", "5", "--type", "int", "k", "6").status == 0)
        #expect(try await container.defaults("s", "set", "--if=06", "--type", "int", "--durable", "k", "7").status == 0)
        #expect(try await container.defaults("s", "get", "k").text == "7\n")
    }

    @Test(arguments: [
        ("int", "1", "1.0", true), ("double", "1.5", "15e-1", true), ("int", "1", "1.5", false),
        ("string", "1", "1.0", false), ("bool", "true", "true", true), ("bool", "true", "1", false),
        ("json", #"{"b": 1, "a": [2, null]}"#, #"{"a":[2.0,null], "b":1}"#, true), ("json", "[1]", "[2]", false),
        ("json", #"{"b": 1}"#, #"{ "b" : 1.0 }"#, true),
    ])
    func `set --if compares what values mean`(type: String, stored: String, expected: String, isSame: Bool) async throws
    {
        let container = try TemporaryContainer()
        try await #expect(container.defaults("s", "set", "--type", type, "k", stored).status == 0)
        let outcome = try await container.defaults("s", "set", "--if", expected, "k", "new")
        #expect(outcome.status == (isSame ? 0 : 4), "\(outcome)")
    }

    @Test func `increment adds to integers only`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.defaults("s", "increment", "n").text == "1\n")
        #expect(try await container.defaults("s", "increment", "n", "41").text == "42\n")
        #expect(try await container.defaults("s", "increment", "n", "--json", "--", "-2").text == "40\n")
        _ = try await container.defaults("s", "set", "text", "7")
        #expect(try await container.defaults("s", "increment", "text").text == "8\n")
        for (type, value) in [
            ("string", "7 apples"), ("double", "1.5"), ("bool", "true"), ("int", "9223372036854775807"),
        ] {
            _ = try await container.defaults("s", "set", "--type", type, "x", value)
            let outcome = try await container.defaults("s", "increment", "x")
            #expect(outcome.status == 65 && outcome.errors.contains("the value was not changed"), "\(outcome)")
            #expect(try await container.defaults("s", "get", "x").text == value + "\n")
        }
    }

    @Test func `list prints the keys, delete removes one, and clear removes all`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "b\t", "x\ny\\")
        _ = try await container.defaults("s", "set", "--type", "json", "a", "[1]")
        #expect(try await container.defaults("s", "list").text == "a\t[1]\nb\\t\tx\\ny\\\\\n")
        #expect(try await container.defaults("s", "list", "--json").text == #"{"a":[1],"b\t":"x\ny\\"}"# + "\n")
        let removed = try await container.defaults("s", "delete", "a", "--json")
        #expect(removed.text == #"{"key":"a","outcome":"removed"}"# + "\n")
        #expect(try await container.defaults("s", "delete", "a").status == 66)
        #expect(try await container.defaults("s", "flush").status == 0)
        #expect(try await container.defaults("s", "clear").status == 0)
        #expect(try await container.defaults("s", "list", "--json").text == "{}\n")
    }

    // fault: read-only
    @Test(.needsRoot) func `defaults of a read-only container are read, and a set is refused with the reason`()
        async throws
    {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "k", "v")
        let words = ["-c", "chmod -R a+rX \"$1\" \"${1%/*}\"; chmod -R go-w \"$1\"", "sh", container.path]
        _ = try await container.start("sh", words).finish()
        let nobody = [
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", BuildDirectory.resolve("groupctl"),
        ]
        func run(_ words: String...) async throws -> RunningProcess.Outcome {
            try await container.start("env", nobody + ["defaults", words[0], container.path, "s"] + words.dropFirst())
                .finish()
        }
        let read = try await run("get", "k")
        #expect(read.text == "v\n" && read.status == 0, "\(read)")
        let set = try await run("set", "k", "w")
        #expect(set.status == 77, "\(set)")
    }
}
