import GroupBytes
package import GroupCommandLine
package import GroupContainer

/// The options that filter changes, for every command that prints changes.
package enum FilterOptions {
    package static let specifications: [OptionSpecification] = [
        .repeatable(
            "include", "GLOB",
            help:
                "Include the items whose path, relative to the container, without './', matches: '*', '?' and '[…]' within a name, '**' across directories ('Library/**' is everything below Library). Of several --include and --exclude options, the last that matches decides; an item that none matches is left out if the first option is --include, and included otherwise. An item that moves in is reported as created, an item that moves out as removed."
        ),
        .repeatable("exclude", "GLOB", help: "Leave out the items that match."),
        .repeatable(
            "kind", "KIND,…", choices: Change.Kind.Word.allCases.map(\.rawValue),
            help:
                "Report only these kinds: created, modified, removed, moved, exchanged, touched, present. The markers rescan, degraded and bookmark are always reported."
        ),
        .repeatable(
            "exclude-purpose", "PURPOSE", help: "Leave out the changes by members of this purpose, such as your own."),
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

    /// Checks that no pattern that includes items leads through a symbolic link. Errors: `invalidArgument`,
    /// `outsideContainer`
    package static func checkIsNoLink(_ patterns: [[UInt8]], in container: Container) throws(CoordinationError) {
        for pattern in patterns { try container.checkIsNoLink(pattern: pattern, mayBeLink: true, operation: "follow") }
    }

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
        throw arguments.usageError("--kind: '\(PipeText.escaped(word))' is not a kind; the kinds are \(known)")
    }
}
