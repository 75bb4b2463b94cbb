/// Makes the scripts with which shells complete a command's words: a script calls the command itself, which reads the
/// containers.
///
/// `COMMAND --complete WORD…` prints the completions of the last word, which may be empty: one in each line, with its
/// meaning after a TAB. If nothing is printed, the shell completes the COMMAND after a `--`, as if it stood alone, and
/// names of files elsewhere.
package struct Completions: Sendable {
    /// The shells for which there are scripts.
    package enum Shell: String, Sendable, CaseIterable { case bash, zsh, fish }

    /// The option with which a script requests completions.
    package static let question = "--complete"

    private let name: String

    /// Creates the completions of a program.
    package init(of command: CommandSpecification) { name = command.name }

    /// Returns the script for a shell.
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

    private var bash: [String] {
        [
            "\(function)() {",
            "    local word at offered=() before=\"${COMP_WORDS[COMP_CWORD]}\"",
            "    while IFS= read -r word; do offered+=(\"$(printf %q \"${word%%$'\\t'*}\")\"); done \\",
            "        < <(\(name) \(Self.question) \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)",
            "    COMPREPLY=(\"${offered[@]}\")",
            "    for ((at = 1; at < COMP_CWORD && ${#offered[@]} == 0; at++)); do",
            "        [[ ${COMP_WORDS[at]} = -- ]] || continue",
            "        if declare -F _command_offset >/dev/null; then",
            "            _command_offset $((at + 1))",
            "        elif ((COMP_CWORD == at + 1)); then",
            "            mapfile -t COMPREPLY < <(compgen -c -- \"$before\")",
            "        fi",
            "        return",
            "    done",
            "    if [[ ${#offered[@]} = 1 && ${offered[0]} = *[/=] ]]; then compopt -o nospace 2>/dev/null; fi",
            "}",
            "complete -o default -o bashdefault -F \(function) \(name)",
        ]
    }

    private var zsh: [String] {
        [
            "\(function)() {",
            "    local line; local -a plain shown open",
            "    for line in \"${(@f)$(\(name) \(Self.question) \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" 2>/dev/null)}\"; do",
            "        case \"${line%%$'\\t'*}\" in",
            "            '') ;;",
            "            *[/=]) open+=(\"${line%%$'\\t'*}\") ;;",
            "            *) plain+=(\"${line%%$'\\t'*}\"); shown+=(\"${line/$'\\t'/  -- }\") ;;",
            "        esac",
            "    done",
            "    if (( $#plain + $#open == 0 )); then",
            "        local at=${words[(i)--]}",
            "        if (( at < CURRENT )); then shift $at words; (( CURRENT -= at )); _normal; return; fi",
            "        _files; return",
            "    fi",
            "    compadd -l -d shown -a plain",
            "    compadd -S '' -a open",
            "}",
            // A file with the function's name is run for the first word; a script that is read with `source` registers
            // the function.
            "if [[ $funcstack[1] = \(function) ]]; then \(function) \"$@\"; else compdef \(function) \(name); fi",
        ]
    }

    private var fish: [String] {
        [
            "function _\(function)_offered",
            "    set -l word (commandline -ct)",
            "    # The typed word may be quoted, and the quotation may still be open.",
            "    set -l plain (string unescape -- $word; or string unescape -- \"$word'\"; or string unescape -- \"$word\\\"\")",
            "    set -l offered (\(name) \(Self.question) (commandline -opc)[2..] \"$plain\" 2>/dev/null)",
            "    if set -q offered[1]",
            "        printf '%s\\n' $offered",
            "    else if set -l at (contains -i -- -- (commandline -opc))",
            "        set -l words (commandline -opc)",
            "        set -l command $words[(math $at + 1)..]",
            "        set -q command[1]; and set command (string escape -- $command)",
            "        complete -C (string join ' ' -- $command \"$word\")",
            "    else",
            "        __fish_complete_path \"$plain\"",
            "    end",
            "end",
            "complete -c \(name) -f -a '(_\(function)_offered)'",
        ]
    }
}
