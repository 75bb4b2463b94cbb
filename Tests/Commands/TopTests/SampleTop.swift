import GroupTerminal

@testable import groupctl

/// States of a container for pictures.
enum SampleTop {
    /// 10:40:00 on a day.
    static let now: Int64 = 1_795_862_400_000_000_000
    static let second: Int64 = 1_000_000_000

    static func member(
        _ process: Int32, _ purpose: String, _ locks: [TopModel.Lock] = [], leader: Bool = false, ancestor: Int? = nil
    ) -> TopModel.Member {
        TopModel.Member(
            process: process, purpose: purpose, command: "/usr/bin/\(purpose) ./shared/", user: 1_000,
            since: now - 60 * second, isLeader: leader, locks: locks, ancestor: ancestor)
    }

    static func held(_ path: String, request: Int, isWriting: Bool = true) -> TopModel.Lock {
        TopModel.Lock(path: path, isWriting: isWriting, since: now - 30 * second, request: request)
    }

    static func awaited(
        _ path: String, request: Int, for age: Int64 = 12, isWriting: Bool = true, behind blockers: (Int, Int)...
    ) -> TopModel.Lock {
        TopModel.Lock(
            path: path, isWriting: isWriting, isWaiting: true, since: now - age * second, request: request,
            blockers: blockers.map { TopModel.Lock.Blocker(member: $0.0, lock: $0.1) })
    }

    static func model(_ members: [TopModel.Member]) -> TopModel {
        TopModel(
            path: "/home/user/shared", members: members, changes: 1_234, journalFiles: 2, journalBytes: 8_703_180,
            freeBytes: 12 << 30)
    }

    /// An editor that holds an item, two members that wait for it, and a leader.
    static var waiting: TopModel {
        model([
            member(11, "editor", [held("notes.txt", request: 1)]),
            member(12, "sync", [awaited("notes.txt", request: 2, behind: (0, 0))]),
            member(13, "widget", [awaited("notes.txt", request: 3, for: 3, isWriting: false, behind: (0, 0))]),
            member(14, "watch-group", leader: true),
        ])
    }

    static func screen(
        _ columns: Int, _ rows: Int, _ model: TopModel = waiting, look: TerminalLook = TerminalLook(isUnicode: true)
    ) -> TopScreen {
        var screen = TopScreen(
            path: model.path, size: WidgetSize(columns: columns, rows: rows), look: look, second: 100)
        screen.take(model, at: SampleTop.now)
        return screen
    }
}

extension TopScreen {
    var picture: TopPicture { picture(at: TopMoment(now: SampleTop.now)) }
    func text() -> String { "\n" + picture.frame.picture + "\n" }
}
