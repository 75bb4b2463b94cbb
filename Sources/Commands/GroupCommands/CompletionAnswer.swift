package import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The completions of a word, from the specification and from the containers that exist.
package struct CompletionAnswer {
    private let point: CompletionPoint

    package init(_ point: CompletionPoint) { self.point = point }

    /// Returns a line for each completion; `own` returns the program's own completions, if it has any. Failures are
    /// ignored, because the output goes to a shell.
    package func lines(own: (CompletionPoint) -> [String]?) -> [String] {
        let candidates: [HelpEntry] =
            switch point.expected {
            case .words(let words): words
            case .value(let option):
                (own(point) ?? values(of: option)).map { HelpEntry($0, "") }
            case .positional(let positional):
                (own(point) ?? names(for: positional.name)).map { HelpEntry($0, "") }
            case .other: []
            }
        // A word with control characters does not fit a line and is left out.
        return candidates.filter { candidate in
            candidate.term.utf8.starts(with: point.partial)
                && candidate.term.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }.map { candidate in
            let sentence = HelpEntry.firstClause(of: candidate.text)
            return point.attached + candidate.term + (sentence.isEmpty ? "" : "\t" + sentence)
        }
    }

    private func values(of option: OptionSpecification) -> [String] {
        if !option.choices.isEmpty { return option.choices }
        switch option.name {
        case "defaults": return names(for: "SUITE")
        case "listener": return names(for: "LISTENER")
        default: return []
        }
    }

    private func names(for positional: String) -> [String] {
        switch positional {
        case "GROUP": return groups
        case "PATH", "FROM", "TO": return items
        case "SUITE": return ((try? container?.status())?.suites ?? []).map(\.name).sorted()
        case "CHANNEL": return ((try? container?.status())?.channels ?? []).map(\.name).sorted()
        case "KEY": return keys
        case "LISTENER": return listeners
        default: return []
        }
    }

    private func given(_ name: String) -> [UInt8]? { point.positionals.first { $0.name == name }?.value }

    private var container: Container? { given("GROUP").flatMap { try? Container(named: $0, timeout: .seconds(1)) } }

    /// The identifiers of groups, and directories that are containers.
    private var groups: [String] {
        let identifiers = (try? Container.groupIdentifiers()) ?? []
        let slash = point.partial.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { Array(point.partial[...$0]) } ?? Array("./".utf8)
        let names = (try? FileDescriptor.open(path: directory, [.reading, .directory]).entryNames()) ?? []
        let containers = names.filter { name in
            let group = directory + name + Array("/.group".utf8)
            return (try? FileDescriptor.open(path: group, [.pathOnly, .directory])) != nil
        }
        return identifiers.sorted()
            + containers.compactMap { (directory + $0 + [UInt8(ascii: "/")]).validText }.sorted()
    }

    private var items: [String] {
        let slash = point.partial.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { ItemPath(bytes: Array(point.partial[..<$0])) }
        let found = (try? container?.items(in: directory)) ?? []
        return found.compactMap { item in
            item.path.bytes.validText.map { item.type == .directory ? $0 + "/" : $0 }
        }
    }

    private var keys: [String] {
        guard let container, let suite = given("SUITE")?.validText,
            let defaults = try? GroupDefaults(container, suite: suite)
        else { return [] }
        return defaults.dictionaryRepresentation().keys.sorted()
    }

    private var listeners: [String] {
        guard let container, let channel = given("CHANNEL")?.validText,
            let listeners = try? GroupChannel(container, name: channel).listeners()
        else { return [] }
        return listeners.map(\.name).sorted()
    }
}
