/// What a shell offers when a command's words are completed: its subcommands and options, and names of files.
package struct Completions: Sendable {
    /// For which completions can be made.
    package enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    /// A command or a subcommand, by the words that lead to it, and what may follow.
    private struct Place {
        let path: String
        let subcommands: [CommandSpecification]
        let options: [OptionSpecification]

        var words: [String] { subcommands.map(\.name) + options.map { "--\($0.name)" } }
    }

    private let name: String
    private let places: [Place]

    /// Of a program.
    package init(of command: CommandSpecification) {
        name = command.name
        places = Self.places(command, below: "", inheriting: [.help, .version])
    }

    private static func places(
        _ command: CommandSpecification, below outer: String, inheriting options: [OptionSpecification]
    ) -> [Place] {
        let (path, options) = (outer + command.name, command.options + options)
        return [Place(path: path, subcommands: command.subcommands, options: options)]
            + command.subcommands.flatMap { places($0, below: path + " ", inheriting: options) }
    }

    /// The script that the shell reads.
    package func rendered(for shell: Shell) -> String {
        let lines =
            switch shell {
            case .bash: bash
            case .zsh: zsh
            case .fish: fish
            }
        let head = shell == .zsh ? ["#compdef \(name)"] : []
        return (head + ["# Made by '\(name) --completions=\(shell.rawValue)'."] + lines).joined(separator: "\n") + "\n"
    }

    private var function: String { "_" + String(name.map { $0 == "-" ? "_" : $0 }) }

    private var paths: [String] { places.dropFirst().map { Self.quoted($0.path) } }

    /// Where among the subcommands the words before the cursor have come to. (`path` is taken, in zsh.)
    private func walk(over words: String) -> [String] {
        if paths.isEmpty { return ["    local at=\(name)"] }
        return [
            "    local word at=\(name)", "    for word in \(words); do", "        case \"$at $word\" in",
            "            \(paths.joined(separator: " | "))) at=\"$at $word\" ;;", "        esac", "    done",
        ]
    }

    private func offer(_ assignment: ([String]) -> String) -> [String] {
        ["    case \"$at\" in"]
            + places.map { "        \(Self.quoted($0.path))) \(assignment($0.words)) ;;" } + ["    esac"]
    }

    private var bash: [String] {
        ["\(function)() {"] + walk(over: "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"") + ["    local offered="]
            + offer { "offered='\($0.joined(separator: " "))'" } + [
                "    mapfile -t COMPREPLY < <(compgen -W \"$offered\" -- \"${COMP_WORDS[COMP_CWORD]}\")", "}",
                "complete -o default -o bashdefault -F \(function) \(name)",
            ]
    }

    private var zsh: [String] {
        ["\(function)() {"] + walk(over: "\"${(@)words[2,CURRENT-1]}\"") + ["    local -a offered"]
            + offer { "offered=(\($0.joined(separator: " ")))" } + [
                "    compadd -a offered", "    _files", "}", "\(function) \"$@\"",
            ]
    }

    private var fish: [String] {
        let known = paths.isEmpty ? "''" : paths.joined(separator: " ")
        let head = [
            "function _\(function)_at", "    set -l at \(name)", "    for word in (commandline -opc)[2..]",
            "        contains -- \"$at $word\" \(known); and set at \"$at $word\"", "    end",
            "    test \"$at\" = $argv[1]", "end",
        ]
        return head
            + places.flatMap { place in
                let line = "complete -c \(name) -n \"_\(function)_at '\(place.path)'\""
                return place.subcommands.map { "\(line) -a \($0.name) -d \(Self.quoted($0.summary))" }
                    + place.options.map { option in
                        let letter = option.letter.map { " -s \($0)" } ?? ""
                        let value = option.placeholder == nil ? "" : " -r"
                        return "\(line) -l \(option.name)\(letter)\(value) -d \(Self.quoted(option.help))"
                    }
            }
    }

    /// For all three: nothing in it is expanded. (What would end or escape it is written otherwise in each.)
    private static func quoted(_ text: String) -> String {
        "'" + String(text.map { $0 == "'" ? "’" : $0 == "\\" ? "⧵" : $0 }) + "'"
    }
}
