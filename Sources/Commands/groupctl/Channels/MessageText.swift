import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// The line of a message: for a pipe, as JSON, or for a terminal.
struct MessageText {
    private let channel: String
    private let isJSON: Bool
    /// Nil if standard output is no terminal.
    private let terminal: TerminalText?

    init(_ channel: String, _ options: CommonOptions) {
        self.channel = channel
        isJSON = options.isJSON
        let text = TerminalText(options.color)
        terminal = text.isColored || StandardOutput.isTerminal ? text : nil
    }

    /// Returns the bytes of the line, with its newline.
    func line(_ message: GroupMessage) -> [UInt8] {
        if isJSON { return Array((message.json(of: channel).encoded() + "\n").utf8) }
        guard let terminal else {
            let text = message.bytes.map { "\t" + PipeText.escaped($0) } ?? ""
            return Array("\(message.number)\(text)\n".utf8)
        }
        let writer = TerminalName.writer(
            PipeText.escaped(Array(message.author.purpose.utf8)), message.author.processIdentifier)
        let text = message.bytes.map { TerminalName.shown($0) } ?? terminal.styled("signal", as: .faint)
        let time = terminal.styled(Timestamp.ofDay(message.timeNanoseconds), as: .faint)
        let number = terminal.styled("\(message.number)", as: .strong)
        return Array("\(time)  \(number)  \(text)  \(terminal.styled(writer, as: .faint))\n".utf8)
    }
}
