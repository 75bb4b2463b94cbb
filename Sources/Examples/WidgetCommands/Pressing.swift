import FoundationEssentials
package import GroupCommandLine
import GroupCommands
import GroupContainer
package import Widgets

/// The options by which a click in a bar presses a widget's buttons and toggles.
package enum Pressing {
    package static let options: [OptionSpecification] = [
        .value("press", "WORD", help: "Press a button or toggle, as a click in polybar does, and end."),
        .value("press-line", "N", help: "Press line N of what the widget showed last, for a click in waybar, and end."),
    ]

    /// Performs the press that the arguments request. Returns false if they request none.
    package static func perform<Provider: WidgetProvider>(
        _ arguments: ParsedArguments, _ program: WidgetProgram<Provider>, timeout: Duration
    ) throws -> Bool where Provider.Snapshot: WidgetContent {
        if let word = try arguments.text("press") {
            guard let action = WidgetAction(word: word) else {
                throw arguments.usageError("--press takes a word that the widget has printed, not '\(word)'")
            }
            try blocking { try await program.perform(action, timeout: timeout) }
            return true
        }
        if let text = try arguments.text("press-line") {
            guard let line = Int(text), line > 0 else {
                throw arguments.usageError("--press-line takes a number from 1")
            }
            try blocking { try await program.perform(line: line, timeout: timeout) }
            return true
        }
        return false
    }

    /// Returns the shell command that presses a control of this program's widget, with its arguments in quotes. A bar need
    /// not have the user's PATH, so it names the program's file.
    package static func command(_ arguments: [String]) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let quoted = ([own] + arguments).map { word in
            "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        return quoted.joined(separator: " ") + " --press"
    }
}
