/// Finds the correct form of a call with a word in the wrong place.
enum Misplaced {
    /// The names that other systems use for the commands here.
    private static let otherNames = [
        "ls": ["list"], "dir": ["list"], "ll": ["list"], "cat": ["read", "get"], "show": ["read", "get"],
        "rm": ["remove", "delete"], "del": ["remove", "delete"], "delete": ["remove"], "remove": ["delete"],
        "unlink": ["remove"], "rmdir": ["remove"], "unset": ["delete"], "mv": ["move"], "rename": ["move"],
        "cp": ["copy"], "md": ["mkdir"], "put": ["write", "set", "post"], "echo": ["write", "post"],
        "edit": ["update"], "flock": ["lock"], "log": ["changes"], "history": ["changes"], "ps": ["status"],
        "info": ["status"], "who": ["status"], "fsck": ["doctor"], "check": ["doctor"], "repair": ["doctor"],
        "new": ["create"], "init": ["create", "mkdir"], "destroy": ["delete-group"], "where": ["path"],
        "write": ["set", "post"], "read": ["get", "show", "follow"], "incr": ["increment"], "publish": ["post"],
        "send": ["post"], "subscribe": ["follow"], "listen": ["follow"], "watch": ["follow", "changes"],
        "tail": ["follow", "changes"], "follow": ["changes"], "append": ["update"], "ack": ["acknowledge"],
        "start": ["show"], "open": ["show"],
    ]

    /// The longest call that is shown, in characters; a longer one is cut.
    private static let longest = 400

    /// Returns the error for a word in place of a command: a misspelling, another system's name, or a GROUP before its
    /// command.
    static func unknownCommand(
        _ name: String, at position: Int, of words: [[UInt8]], under command: CommandSpecification,
        called path: [String]
    ) -> UsageError {
        let known = command.subcommands.map(\.name)
        if let other = otherNames[name]?.first(where: known.contains) { return unknown(name, meant: other, path) }
        // A GROUP of one letter would be near every command that begins with that letter.
        let near = name.contains("/") ? nil : NearestName.among(known, to: name)
        if let near, NearestName.isMisspelling(name, of: near) { return unknown(name, meant: near, path) }
        let operands = words.indices.dropFirst(position).filter { words[$0].first != UInt8(ascii: "-") }
        let later = operands.enumerated().dropFirst().first { count, index in
            command.subcommands.contains { Array($0.name.utf8) == words[index] && count <= $0.leading }
        }?.element
        if let later {
            var right = words
            right.insert(right.remove(at: later), at: position)
            return verbFirst(name, line(right, of: path[0]), path)
        }
        if let near { return unknown(name, meant: near, path) }
        if let usual = command.usualSubcommand {
            var right = words
            right.insert(Array(usual.utf8), at: position)
            return verbFirst(name, line(right, of: path[0]), path)
        }
        return UsageError(
            "unknown command '\(name)'" + (name.contains("/") ? "; the command comes before GROUP" : ""),
            commandPath: path)
    }

    /// Returns the call with `--` before the word at that position; or with the last word as GROUP, where only that one
    /// looks like a directory: the words of a COMMAND came first.
    static func command(in words: [[UInt8]], at position: Int, of program: String, group: [UInt8]?) -> String {
        var right = words
        let slash = UInt8(ascii: "/")
        if let group, !group.contains(slash), let last = words.last, last.last == slash,
            let first = words.firstIndex(of: group)
        {
            right.removeLast()
            right.insert(contentsOf: [last, Array("--".utf8)], at: first)
        } else {
            right.insert(Array("--".utf8), at: position)
        }
        return line(right, of: program)
    }

    private static func unknown(_ name: String, meant: String, _ path: [String]) -> UsageError {
        UsageError("unknown command '\(name)'; did you mean '\(meant)'?", commandPath: path)
    }

    private static func verbFirst(_ name: String, _ line: String, _ path: [String]) -> UsageError {
        UsageError("unknown command '\(name)'; the command comes before GROUP: \(line)", commandPath: path)
    }

    /// Returns the call as it is typed in a shell.
    private static func line(_ words: [[UInt8]], of program: String) -> String {
        let line = ([program] + words.map(ShellWords.quoted)).joined(separator: " ")
        return line.count <= longest ? line : String(line.prefix(longest)) + "…"
    }
}

extension CommandSpecification {
    /// How many operands may precede the command in a call with the wrong order.
    fileprivate var leading: Int { max(1, positionals.count { ["GROUP", "SUITE", "CHANNEL"].contains($0.name) }) }
}
