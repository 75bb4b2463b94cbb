import GroupCommandLine

extension ItemSpecifications {
    static let resolve = CommandSpecification(
        name: "resolve", summary: "Ends a conflict: keeps one content of an item, and removes the conflict copy.",
        usage: [
            "group-cluster resolve GROUP ITEM [--keep WHICH]",
            "group-cluster resolve GROUP ITEM --keep merge -- COMMAND [ARG…]",
        ],
        options: [
            .value(
                "keep", "WHICH", choices: Keep.allCases.map(\.rawValue),
                help:
                    "What the item is to contain: mine, the content that was written on this machine; theirs, the one that was written on another machine; item, the one that the item has now; copy, that of the conflict copy; merge, what COMMAND prints, which gets the names of two files with the contents of the item and of the copy. Where the journal does not show whose a content is, mine and theirs are an error that shows both; item and copy can always be stated. Without this option, both contents are listed with their author, date and size, and nothing is changed."
            ),
            .flag(
                "allow-empty",
                help: "Let the item become empty where COMMAND makes nothing of both; without it, that is an error."),
        ],
        positionals: [
            group,
            PositionalSpecification(
                "ITEM",
                help:
                    "The path of the item, or of its conflict copy 'name (conflict OPERATION).ext'. An item with several copies is an error that lists them: pass one of the copies."
            ),
        ],
        trailingCommand: .optional,
        description: [
            "The item's new content and the removal of the copy are one change of the cluster. If the item or the copy is changed meanwhile, on whatever machine, nothing is changed, and the command ends with status 4. group-cluster status forgets the conflict when the copy is gone.",
            "mine and theirs are decided by the authors in the container's journal, which groupctl changes prints. If both contents were written on this machine, or neither was, or the journal does not show it (its record is no longer kept, or was made after the machine's group-cluster had been started anew), the command ends with status 64 and lists both: state item or copy. These two can always be stated.",
            "COMMAND gets two arguments after its own, the names of temporary files with the content of the item and of the copy, and its standard output is the new content. If an ARG contains {item}, {copy}, {mine}, {theirs} or {result}, these are replaced by the names of the files instead, and nothing is added. With {result}, the new content is what COMMAND has written to that file, and COMMAND has this command's standard input and output. There is no common ancestor. If COMMAND ends with another status than 0, nothing is changed. It holds no lock while it runs.",
            description,
        ],
        examples: [
            HelpEntry("group-cluster resolve ./shared/ list.txt", "Shows who has written what."),
            HelpEntry("group-cluster resolve ./shared/ list.txt --keep mine", ""),
            HelpEntry(
                "group-cluster resolve ./shared/ list.txt --keep merge -- git merge-file -p --union {item} /dev/null {copy}",
                "Keeps the lines of both."),
            HelpEntry(
                "group-cluster resolve ./shared/ list.txt --keep merge -- meld {mine} {theirs} --output {result}", ""),
        ],
        exitStatuses: statuses(without: "3", "64") + [
            HelpEntry("64", "wrong usage; or which content is meant is not known, and the message shows both"),
            HelpEntry("65", "COMMAND made nothing of both, and they have contents"),
            HelpEntry("126, 127", "COMMAND cannot be executed; COMMAND was not found"),
            HelpEntry("N", "COMMAND's status"),
        ])
}

/// The content that `resolve` keeps.
enum Keep: String, CaseIterable {
    case mine, theirs, item, copy, merge
}
