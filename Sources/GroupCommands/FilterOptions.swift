package import GroupCommandLine
package import GroupContainer

/// The options that filter changes, for every command that prints changes.
package enum FilterOptions {
    package static let specifications: [OptionSpecification] = [
        .repeatable(
            "include", "GLOB",
            help:
                "Items whose path, relative to the container, without './', matches: '*', '?' and '[…]' within a name, '**' across directories ('Library/**' is what is below Library). Of several --include and --exclude the last that matches wins; what none matches is out if the first is an --include, else in. What moves in is created, what moves out removed."
        ),
        .repeatable("exclude", "GLOB", help: "Not the items that match."),
        .repeatable(
            "kind", "KIND,…", choices: Change.Kind.Word.allCases.map(\.rawValue),
            help:
                "Only these kinds: created, modified, removed, moved, exchanged, touched, present. The markers rescan, degraded and bookmark always come."
        ),
        .repeatable("exclude-purpose", "PURPOSE", help: "Not what members of this purpose change: one's own, for one."),
    ]

    package static func filter(_ arguments: ParsedArguments) throws(UsageError) -> ChangeFilter {
        var filter = ChangeFilter()
        for rule in arguments.occurrences(of: "include", "exclude") {
            if let fault = ChangeFilter.fault(ofPattern: rule.value) {
                throw arguments.usageError("--\(rule.name): \(fault)")
            }
        }
        try addPatterns(arguments, to: &filter)
        for word in kindWords(arguments) { filter.kinds = (filter.kinds ?? []).union([try kind(word, arguments)]) }
        return filter
    }

    /// Adds the patterns and the excluded purposes.
    static func addPatterns(_ arguments: ParsedArguments, to filter: inout ChangeFilter) throws(UsageError) {
        for rule in arguments.occurrences(of: "include", "exclude") {
            if rule.value.isEmpty { throw arguments.usageError("--\(rule.name): the pattern is empty") }
            if rule.name == "include" { filter.include(bytes: rule.value) } else { filter.exclude(bytes: rule.value) }
        }
        for purpose in arguments.values("exclude-purpose") {
            filter.excludedPurposes.insert(String(decoding: purpose, as: UTF8.self))
        }
    }

    static func kindWords(_ arguments: ParsedArguments) -> [[UInt8]] {
        arguments.values("kind").flatMap { list in
            list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Array($0) }
        }
    }

    private static func kind(_ word: [UInt8], _ arguments: ParsedArguments) throws(UsageError) -> Change.Kind.Word {
        if let kind = word.validText.flatMap(Change.Kind.Word.init) { return kind }
        let known = Change.Kind.Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw arguments.usageError("--kind: '\(PipeText.escaped(word))' is none; the kinds are \(known)")
    }
}
