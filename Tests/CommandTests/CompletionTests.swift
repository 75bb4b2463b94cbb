import TestSupport
import Testing

@Suite struct `Completions` {
    /// What bash offers for the last of the words.
    private func offered(_ words: String...) async throws -> [String] {
        let script = """
            source <("$1" --completions=bash); shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $(complete -p "$1" | grep -o -- '-F [^ ]*' | cut -c 4-)
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let program = BuildFolder.resolve(words.first ?? "")
        let outcome = try await Command("bash", ["-c", script, "bash", program] + words).finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        return outcome.lines
    }

    @Test func `are of subcommands, and of the options where the words have come to`() async throws {
        #expect(try await offered("groupctl", "re") == ["read", "remove", "refresh"])
        #expect(try await offered("groupctl", "read", "./shared/", "--gen") == ["--generation-file"])
        #expect(try await offered("groupctl", "list", "./shared/", "--gen") == [""])
        #expect(try await offered("groupctl", "--json", "defaults", "inc") == ["increment"])
        #expect(try await offered("watch-group", "--inc") == ["--include"])
    }

    @Test(arguments: ["groupctl", "watch-group", "widget-host"])
    func `are made for each shell`(program: String) async throws {
        for (shell, first) in [("bash", "_"), ("zsh", "#compdef \(program)"), ("fish", "function _")] {
            let made = try await Command(program, ["--completions=\(shell)"]).finish()
            #expect(made.status == 0 && made.errors.isEmpty)
            #expect(made.lines.first { $0.hasPrefix(first) } != nil && made.text.contains("timeout"), "\(shell)")
        }
        #expect(try await Command(program, ["--completions=csh"]).finish().status == 64)
    }
}
