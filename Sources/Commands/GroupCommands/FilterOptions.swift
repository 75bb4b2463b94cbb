import GroupBytes
package import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// The options that filter changes, for every command that prints changes.
package enum FilterOptions {
    package static let specifications: [OptionSpecification] = [
        .repeatable(
            "include", "GLOB",
            help:
                "Include the items whose path, relative to the container, without './', matches (case matters): '*', '?' and '[…]' within a name, '**' across directories ('Library/**' is everything below Library). Of several --include and --exclude options, the last that matches decides; an item that none matches is left out if the first option is --include, and included otherwise. An item that moves in is reported as created, an item that moves out as removed."
        ),
        .repeatable("exclude", "GLOB", help: "Leave out the items that match."),
        .repeatable(
            "ignore", "PATTERN",
            help:
                "Leave out the items that the pattern matches as in a .gitignore at the container's root: '*.tmp' in any directory, '/a' and 'a/b' from the root, 'build/' a directory and everything below it, '!keep.tmp' not ignored after all. Of several --ignore options and lines of --ignore-file, the last that matches decides. What is ignored stays out, whatever --include says."
        ),
        .repeatable(
            "ignore-file", "FILE",
            help:
                "Leave out what the patterns in FILE ignore, one in each line, as in a .gitignore. FILE is read once, at the beginning."
        ),
        .repeatable(
            "kind", "KIND,…", choices: Change.Kind.Word.allCases.map(\.rawValue),
            help:
                "Report only these kinds: created, modified, removed, moved, exchanged, touched, present. The markers rescan, degraded and bookmark are always reported."
        ),
        .repeatable(
            "exclude-purpose", "PURPOSE", help: "Leave out the changes by members of this purpose, such as your own."),
    ]

    /// The size of the largest file of patterns, in bytes.
    private static let largestIgnoreFile = 64 << 10

    /// Makes the filter, and reads the files of patterns. Errors: a usage error, and those of reading a file.
    package static func filter(_ arguments: ParsedArguments) throws -> ChangeFilter {
        var filter = ChangeFilter()
        for rule in arguments.occurrences(of: "include", "exclude") {
            if let fault = ChangeFilter.fault(ofPattern: rule.value) {
                throw arguments.usageError("--\(rule.name): \(fault)")
            }
        }
        try addPatterns(arguments, to: &filter)
        try addIgnored(arguments, to: &filter)
        for word in kindWords(arguments) { filter.kinds = (filter.kinds ?? []).union([try kind(word, arguments)]) }
        return filter
    }

    /// Checks that no pattern that includes items leads through a symbolic link. Errors: `invalidArgument`,
    /// `outsideContainer`
    package static func checkIsNoLink(_ patterns: [[UInt8]], in container: Container) throws(CoordinationError) {
        for pattern in patterns { try container.checkIsNoLink(pattern: pattern, operation: "follow") }
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

    private static func addIgnored(_ arguments: ParsedArguments, to filter: inout ChangeFilter) throws {
        for rule in arguments.occurrences(of: "ignore", "ignore-file") {
            let content = rule.name == "ignore" ? rule.value : try ignoreFile(rule.value, arguments)
            do throws(CoordinationError) {
                if rule.name == "ignore" {
                    try filter.ignore(bytes: content)
                } else {
                    try filter.ignore(linesOf: content)
                }
            } catch {
                let file = rule.name == "ignore" ? "" : " \(PipeText.escaped(rule.value))"
                throw arguments.usageError("--\(rule.name)\(file): '\(error.item ?? "")': \(error.reason)")
            }
        }
    }

    private static func ignoreFile(_ path: [UInt8], _ arguments: ParsedArguments) throws -> [UInt8] {
        let content: [UInt8]
        do throws(Errno) {
            content = try FileDescriptor.open(path: path, .reading).readAll(limit: largestIgnoreFile + 1)
        } catch {
            throw CoordinationError.unreadable(path, operation: "read the patterns in", error)
        }
        if content.count > largestIgnoreFile {
            throw arguments.usageError(
                "--ignore-file \(PipeText.escaped(path)): the file is larger than \(largestIgnoreFile >> 10) KiB")
        }
        return content
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
