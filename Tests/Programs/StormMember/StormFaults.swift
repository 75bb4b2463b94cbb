import TestSupport

/// What has to be true when it is calm again.
extension Storm {
    func faults(changes lines: [String]) throws -> [String] {
        var account = StormAccount()
        for participant in participants { account.take(participant.name, participant.lives.map(\.lines)) }
        let files = try place.files()
        let verified = try place.run(["storm-member", "verify", place.container])
        let doctor = try place.run(["groupctl", "doctor", "--json", place.container])
        var faults = participants.flatMap(\.faults) + account.faults
        if verified.status != 0 { faults.append("verify: \(verified.text)") }
        if doctor.status != 0 { faults.append("doctor: \(doctor.text)") }
        faults += try numbers(verified.text, account) + widget(verified.text)
        faults += content(files, account)
        faults += try journal(lines, files) + followers(lines)
        faults += channel()
        faults += try place.staging().map { "\($0) is left in staging" }
        faults += try place.processes().map { "still there: \($0)" }
        printLine(
            "storm: \(story.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")); "
                + "\(lines.count) changes; acknowledged \(account.acknowledged), refused \(account.refusals)")
        return faults
    }

    private func value(_ word: String, _ text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(word + " ") }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") }
    }

    private func numbers(_ verified: String, _ account: StormAccount) throws -> [String] {
        var faults: [String] = []
        faults += account.check("n", is: value("n", verified) ?? 0)
        faults += account.check("key", is: value("key n", verified) ?? 0)
        for setter in participants where setter.role == .setter {
            guard let allowed = account.last["set \(setter.name)"] else { continue }
            let found = value("key \(setter.name)", verified) ?? 0
            if !allowed.contains(found) { faults.append("\(setter.name) set one of \(allowed), and there is \(found)") }
        }
        return faults
    }

    private func widget(_ verified: String) -> [String] {
        value("widget", verified) == value("n", verified) ? [] : ["the widget does not show what is there: \(verified)"]
    }

    private func content(_ files: [String: [UInt8]], _ account: StormAccount) -> [String] {
        var faults: [String] = []
        for (path, bytes) in files where path != "n" && !path.hasPrefix("shell/") {
            if StormContent.author(of: bytes) == nil { faults.append("\(path) is not whole: \(bytes.count) bytes") }
        }
        if files["pair/x"] != files["pair/y"] { faults.append("the pair is not the same") }
        for writer in participants.filter({ $0.role == .writer }).map(\.name) {
            let own = files["own/\(writer)"].flatMap { StormContent.author(of: $0)?.number } ?? 0
            if let allowed = account.last["own \(writer)"], !allowed.contains(own) {
                faults.append("own/\(writer) is \(own), and not of \(allowed)")
            }
            if let allowed = account.last["comes \(writer)"],
                !allowed.contains(files["comes/\(writer)"] == nil ? 0 : 1)
            {
                faults.append("comes/\(writer) is there, or not, as it should not be")
            }
            let places = [files["moves/\(writer)"], files["moved/\(writer)"]].count { $0 != nil }
            if account.last["moved \(writer)"].map({ $0.contains(0) ? places > 1 : places != 1 }) ?? false {
                faults.append("what \(writer) moves is at \(places) places")
            }
        }
        return faults
    }

    /// How well the container is watched is no change.
    private static func changes(_ lines: [String]) throws -> [JSONChange] {
        try lines.map { try JSONChange($0) }.filter { $0.kind != "degraded" }
    }

    private func journal(_ lines: [String], _ files: [String: [UInt8]]) throws -> [String] {
        let changes = try Self.changes(lines)
        let reported = lines.filter { !$0.contains("\"degraded\"") }
        var (tree, faults): (StreamedTree, [String]) = (StreamedTree(), [])
        for (index, change) in changes.enumerated() {
            let known = tree.faults.count
            tree.apply(change)
            if tree.faults.count == known { continue }
            let top = change.path.split(separator: "/").prefix(2).joined(separator: "/")
            let before = changes[..<index].filter { $0.path.hasPrefix(top) }.suffix(8)
            let story = before.map { "\($0.sequence) \($0.summary)" }.joined(separator: ", ")
            faults += tree.faults[known...].map { "\($0), after \(story)" }
        }
        faults += tree.differences(from: try place.tree())
        let again = try place.run(["groupctl", "changes", place.container, "--since", "start", "--json"]).text
        let later = try Self.changes(again.split(separator: "\n").map(String.init)).dropFirst(changes.count)
        faults += later.map { "reported when all members had ended: \($0.sequence) \($0.summary)" }
        let count = changes.count { $0.path == "n" && $0.coordinated }
        let value = Int(String(decoding: files["n"] ?? [], as: UTF8.self).filter { $0 != "\n" }) ?? 0
        if count != value { faults.append("n is \(value), and \(count) changes of it are reported") }
        for (index, change) in changes.enumerated() where !change.coordinated && !change.path.hasPrefix("shell") {
            let top = change.path.split(separator: "/").prefix(2).joined(separator: "/")
            let story = changes.indices[max(0, index - 60)..<min(changes.count, index + 20)]
                .filter { changes[$0].path.hasPrefix(top) }.map { reported[$0] }.joined(separator: "\n      ")
            faults.append("\(change.sequence) \(change.summary): not coordinated; all of it:\n      \(story)")
        }
        return faults
    }

    private func followers(_ lines: [String]) throws -> [String] {
        let expected = try Self.changes(lines)
        return try participants.filter { [.follower, .limited].contains($0.role) }.flatMap { follower in
            let runs = try follower.lives.map { life in
                StreamChecker.Run(
                    since: life.cursor, try Self.changes(life.lines.filter { $0.first == "{" }.map(String.init)))
            }
            var union: [JSONChange] = []
            for line in runs.flatMap(\.lines) where line.kind != "bookmark" {
                let place = (line.sequence, line.transaction?.index ?? 0)
                if union.last.map({ place > ($0.sequence, $0.transaction?.index ?? 0) }) ?? true { union.append(line) }
            }
            var faults = StreamChecker.faults(in: runs).map(\.description)
            if union != expected { faults.append("all its lives have \(union.count) of \(expected.count) changes") }
            return faults.map { "\(follower.name): \($0)" }
        }
    }

    private func channel() -> [String] {
        let posted = participants.flatMap { $0.lives.flatMap { Storm.messages("posted ", $0.lines) } }
        return participants.filter { $0.role == .listener }.flatMap { listener in
            var (all, faults): ([Storm.Post], [String]) = ([], [])
            for life in listener.lives {
                let got = Storm.messages("got ", life.lines)
                guard let first = got.first?.number else { continue }
                if first > all.count + 1 { faults.append("message \(all.count + 1) was left out") }
                if got.map(\.number) != got.indices.map({ first + $0 }) { faults.append("messages are left out") }
                for message in got {
                    if message.number > all.count {
                        all.append(message)
                    } else if message.number < 1 || all[message.number - 1] != message {
                        faults.append("message \(message.number) was another before")
                    }
                }
            }
            let lost = Set(posted).subtracting(all)
            if !lost.isEmpty {
                faults.append("\(lost.count) acknowledged posts never came: \(lost.prefix(3).map(\.text))")
            }
            return faults.map { "\(listener.name): \($0)" }
        }
    }
}
