import GroupCommandLine
import Testing

struct TerminalTextTests {
    private struct Case: Sendable {
        let choice: ColorChoice
        var noColor: String?
        var terminal: String? = "xterm"
        var isTerminal = true
        let isColored: Bool
    }

    @Test(arguments: [
        Case(choice: .auto, isColored: true),
        Case(choice: .auto, isTerminal: false, isColored: false),
        Case(choice: .auto, noColor: "1", isColored: false),
        Case(choice: .auto, noColor: "", isColored: true),
        Case(choice: .auto, terminal: "dumb", isColored: false),
        Case(choice: .auto, terminal: "", isColored: false),
        Case(choice: .auto, terminal: nil, isColored: false),
        Case(choice: .always, noColor: "1", terminal: "dumb", isTerminal: false, isColored: true),
        Case(choice: .never, isColored: false),
    ])
    private func `the option, the environment and the terminal decide on color`(example: Case) {
        let decided = TerminalText.colors(
            example.choice, noColor: example.noColor, terminal: example.terminal, isTerminal: example.isTerminal)
        #expect(decided == example.isColored)
    }

    @Test func `a color choice is one of three words`() {
        #expect(ColorChoice.allCases.map(\.rawValue) == ["auto", "always", "never"])
    }

    @Test func `a styled text ends its color`() {
        #expect(TerminalText(isColored: true).styled("new", as: .created) == "\u{1B}[32mnew\u{1B}[0m")
        #expect(TerminalText(isColored: true).styled("", as: .created) == "")
        #expect(TerminalText(isColored: false).styled("new", as: .created) == "new")
    }

    @Test func `every role of a text has its own color`() {
        let text = TerminalText(isColored: true)
        let looks = Set(TerminalText.Role.allCases.map { text.styled("x", as: $0) })
        #expect(looks.count == TerminalText.Role.allCases.count)
    }

    @Test func `the choice always colors output that is not a terminal`() {
        #expect(TerminalText(.always, descriptor: -1).isColored)
        #expect(!TerminalText(.auto, descriptor: -1).isColored)
    }
}
