import GroupCommandLine

/// Names of items and of members, for a person's eyes.
package enum TerminalName {
    /// Bytes so that nothing in them moves the cursor, colours, hides or reorders what stands around them.
    package static func shown(_ bytes: [UInt8]) -> String { TerminalText.visible(PipeText.escaped(bytes)) }

    /// Text that is escaped already, but for what only people cannot see.
    package static func shown(_ text: String) -> String { TerminalText.visible(text) }
}
