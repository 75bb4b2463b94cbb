extension DefaultsChange {
    /// A change of no key, for a line that says that everything up to a place was told. Its kind says nothing.
    package static func bookmark(_ suite: String, at cursor: Cursor) -> DefaultsChange {
        DefaultsChange(
            kind: .present, suite: suite, key: "", old: nil, new: nil, generation: cursor.sequence, cursor: cursor,
            by: nil, time: 0, part: 0, parts: 1)
    }
}
