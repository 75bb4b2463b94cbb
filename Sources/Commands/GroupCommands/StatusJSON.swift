import GroupBytes
package import GroupCommandLine
package import GroupContainer

extension ContainerStatus {
    /// Returns the object that `groupctl status --json` prints.
    package func json(of container: Container) -> JSONValue {
        .object([
            ("path", .string(PipeText.lossyString(container.path.bytes))),
            ("identifier", container.groupIdentifier.map(JSONValue.string) ?? .null),
            ("container", .string(containerIdentifier)),
            ("readOnly", .bool(container.isReadOnly)),
            (
                "journal",
                .object([
                    ("sequence", .unsigned(sequence.rawValue)), ("cursor", .string(cursor.description)),
                    ("files", .integer(Int64(journalFileCount))),
                ])
            ),
            ("members", .array(members.map { object($0, in: self) })),
            ("suites", .array(suites.map { object($0, counted: "keys") })),
            ("channels", .array(channels.map { object($0, counted: "messages") })),
        ])
    }
}

extension GroupChannel.Listener {
    /// The object that `--json` prints for a listener.
    package var json: JSONValue {
        .object([
            ("name", .string(name)), ("acknowledged", .unsigned(acknowledgedNumber)),
            ("behind", .integer(Int64(waitingCount))),
            ("waitingSince", waitingSinceNanoseconds.map { .string(Timestamp.text($0)) } ?? .null),
            (
                "by",
                .object([
                    ("pid", .integer(Int64(author.processIdentifier))),
                    ("purpose", .string(author.purpose)),
                ])
            ),
        ])
    }
}

private func object(_ log: ContainerStatus.Log, counted noun: String) -> JSONValue {
    var fields: [(String, JSONValue)] = [
        ("name", .string(log.name)), ("bytes", .unsigned(log.size)), ("sequence", .unsigned(log.sequence)),
        (noun, .integer(Int64(log.count))), ("fault", log.fault.map { .string("\($0)") } ?? .null),
    ]
    if noun == "messages" { fields.append(("listeners", .array(log.listeners.map(\.json)))) }
    return .object(fields)
}

private func object(_ member: ContainerStatus.Member, in status: ContainerStatus) -> JSONValue {
    .object([
        ("pid", .integer(Int64(member.processIdentifier))), ("user", .integer(Int64(member.userIdentifier))),
        ("purpose", .string(member.purpose)), ("since", .string(Timestamp.text(member.sinceNanoseconds))),
        ("leader", .bool(member.isLeader)),
        ("command", member.command.map(JSONValue.string) ?? .null),
        ("condition", member.condition.map { .string($0.rawValue) } ?? .null),
        ("pidNamespace", member.pidNamespace.map(JSONValue.unsigned) ?? .null),
        (
            "locks",
            .array(
                member.locks.map { access in
                    .object([
                        ("path", .string(access.path)), ("mode", .string(access.isWriting ? "writing" : "reading")),
                        ("wholeDirectory", .bool(access.isWholeDirectory)), ("purpose", .string(access.purpose)),
                        ("state", .string(access.isWaiting ? "waiting" : "holding")),
                        ("since", .string(Timestamp.text(access.sinceNanoseconds))),
                        (
                            "waitsFor",
                            .array(
                                Set(access.blockers.map { status.members[$0.member].processIdentifier }).sorted()
                                    .map { .integer(Int64($0)) })
                        ),
                    ])
                })
        ),
        ("presents", .array(member.presentedItems.map(object))),
    ])
}

private func object(_ item: ContainerStatus.PresentedItem) -> JSONValue {
    .object([
        ("path", .string(item.path)), ("answers", .array(item.answers.words.map(JSONValue.string))),
        ("since", .string(Timestamp.text(item.sinceNanoseconds))), ("questions", .array(item.questions.map(object))),
    ])
}

private func object(_ question: ContainerStatus.OpenQuestion) -> JSONValue {
    .object([
        ("wanted", .array(question.wanted.words.map(JSONValue.string))), ("state", .string(question.state)),
        ("pid", .integer(Int64(question.processIdentifier))), ("purpose", .string(question.purpose)),
        ("item", .string(question.item)), ("since", .string(Timestamp.text(question.sinceNanoseconds))),
    ])
}

extension PresenterQuestions {
    /// The words for `GROUP_WANTED`, in the order in which they are to be done.
    package var words: [String] {
        let all: [(PresenterQuestions, String)] = [
            (.relinquishToReader, "relinquish-to-reader"), (.relinquishToWriter, "relinquish-to-writer"),
            (.saveChanges, "save"), (.accommodateDeletion, "accommodate-deletion"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
