import TestSupport

/// What the users of all machines have printed, and what has to be true of it.
struct StormAccount {
    struct Change {
        var kind: String
        var register: String
        var word: String
        var from: String
        var began: Int64
        /// The end and what the user was told; nil where the user was killed.
        var outcome: String?
        var ended = Int64.max
        var operation = "-"
        var seen: String?
        /// The end of the body of an update under the lock.
        var commits: Int64?
        var text = ""
    }

    private(set) var born: [Substring: String] = [:]
    /// The inodes of files that users have removed, by machine.
    private var buried: Set<String> = []
    private var inodes: [Substring: String] = [:]
    private(set) var gone: Set<Substring> = []
    private(set) var changes: [String: Change] = [:]
    private var faultsOfUsers: [String] = []
    private var refusals: [Substring: Int] = [:]

    init(_ machines: [StormMachine]) {
        for machine in machines {
            faultsOfUsers += machine.faults
            for line in machine.lines { take(line, machine.name) }
        }
    }

    private mutating func take(_ line: Substring, _ machine: String) {
        let words = line.split(separator: " ", maxSplits: 5)
        switch words.first {
        case "born" where words.count == 6:
            born[words[1]] = "\(machine) (\(words[2...].joined(separator: " ")))"
            inodes[words[1]] = "\(machine) \(words[4])"
        case "buried" where words.count == 2: buried.insert("\(machine) \(words[1])")
        case "gone" where words.count == 2: gone.insert(words[1])
        case ">" where words.count == 6:
            changes[String(words[1])] = Change(
                kind: String(words[2]), register: String(words[3]), word: String(words[1]), from: String(words[4]),
                began: Int64(words[5]) ?? 0)
        case "accepted", "conflict", "unavailable", "unknown", "other":
            guard words.count >= 3, let time = Int64(words[2]) else { return }
            let word = String(words[1])
            changes[word]?.outcome = String(words[0])
            changes[word]?.ended = time
            if words.count > 3 { changes[word]?.operation = String(words[3]) }
            if words.count > 4 { changes[word]?.text = words[4...].joined(separator: " ") }
        case "seen" where words.count == 4: changes[String(words[1])]?.seen = String(words[2])
        case "commit" where words.count == 3: changes[String(words[1])]?.commits = Int64(words[2])
        case "fault": faultsOfUsers.append("\(machine): \(line)")
        case "refused": refusals[words.count > 1 ? words[1] : "", default: 0] += 1
        default: return
        }
    }

    var summary: String {
        var outcomes: [String: Int] = [:]
        for change in changes.values { outcomes[change.outcome ?? "killed", default: 0] += 1 }
        let texts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return "\(born.count) words born, \(gone.count) gone; strict: \(texts.joined(separator: ", "))"
            + (refusals.isEmpty ? "" : "; refused \(refusals)")
    }

    func faults(in tree: [String: StormMachine.Entry]) -> [String] {
        var faults = faultsOfUsers + lost(in: tree)
        for register in Set(changes.values.map(\.register)).sorted() {
            faults += check(register, tree[register]?.content)
        }
        for change in changes.values where change.outcome == "other" {
            faults.append("\(change.word) at \(change.register): \(change.text)")
        }
        return faults
    }

    /// Returns what was written, was not taken away by a user, and is nowhere.
    func lost(in tree: [String: StormMachine.Entry]) -> [String] {
        var faults: [String] = []
        var found: [Substring: String] = [:]
        for (path, entry) in tree {
            for word in entry.content.split(separator: "\n") { found[word] = path }
        }
        for (word, machine) in born where !gone.contains(word) && found[word] == nil {
            if let inode = inodes[word], buried.contains(inode) { continue }
            faults.append("lost: '\(word)', written on \(machine)")
        }
        for number in 0..<80 where found["ballast.\(number)"] == nil { faults.append("lost: ballast.\(number)") }
        return faults
    }

    /// Checks one register: which changes can have happened, and whether their order can be.
    private func check(_ register: String, _ content: String?) -> [String] {
        guard let last = content?.split(separator: " ").last.map(String.init) else {
            return ["\(register) is gone: \(content ?? "nothing")"]
        }
        let all = changes.values.filter { $0.register == register }
        // A change whose fate is not known has happened if a later one has seen it.
        var seenBy: [String: Int64] = [last: .max - 1]
        for change in all {
            if change.kind == "exchange" { seenBy[change.from] = min(seenBy[change.from] ?? .max, change.ended) }
            if let seen = change.seen { seenBy[seen] = min(seenBy[seen] ?? .max, .max - 1) }
        }
        var numbers: [String: Int] = ["start": 0]
        func number(_ word: String) -> Int {
            if let known = numbers[word] { return known }
            numbers[word] = numbers.count
            return numbers.count - 1
        }
        var faults: [String] = []
        var operations: [LinearizabilityChecker.Operation] = []
        var perhaps: [LinearizabilityChecker.Operation] = []
        var (accepted, happened) = (0, 0)
        for change in all.sorted(by: { $0.began < $1.began }) {
            let kind: LinearizabilityChecker.Kind =
                change.kind == "set"
                ? .set(number(change.word)) : .exchange(from: number(change.from), to: number(change.word))
            func add(_ answer: Int, ended: Int64) {
                operations.append(.init(kind, began: change.began, ended: ended, answer: answer))
            }
            switch change.outcome {
            case "accepted":
                add(1, ended: change.ended)
                accepted += 1
            case "conflict":
                if seenBy[change.word] != nil { faults.append("\(change.word) was refused, and has happened") }
                // Under the cluster's lock it may say that the lock was lost, whatever the register was.
                if change.kind == "exchange" && register != StrictUser.locked { add(0, ended: change.ended) }
            case "unavailable":
                if seenBy[change.word] != nil { faults.append("\(change.word) was not committed, and has happened") }
            default:
                if let seen = seenBy[change.word] {
                    add(1, ended: min(seen, .max - 1))
                    happened += 1
                } else {
                    perhaps.append(.init(kind, began: change.began, ended: .max, answer: 1))
                }
            }
        }
        operations.append(
            .init(.get, began: .max - 1, ended: .max - 1, answer: number(last)))
        // Changes of unknown outcome multiply the orders to search. So at most 12 are added, and only if no order works
        // without them; where there are more, it stays open whether there is an order.
        if !LinearizabilityChecker(operations).isLinearizable(from: 0), perhaps.count <= 12,
            !LinearizabilityChecker(operations + perhaps).isLinearizable(from: 0)
        {
            let isSo = LinearizabilityChecker(operations.filter { $0.answer != 0 || $0.kind == .get })
                .isLinearizable(from: 0)
            faults.append(
                "\(register): no order explains it\(isSo ? ", with the conflicts; without them there is one" : "") (\(all.count) changes)"
            )
            faults += forks(all)
        }
        faults += disorder(Array(all))
        // Each exchange adds one.
        if all.allSatisfy({ $0.kind == "exchange" }), let text = content?.split(separator: " ").first,
            let number = Int(text), number != accepted + happened
        {
            faults.append(
                "\(register) is \(number), after \(accepted) accepted changes and \(happened) of unknown fate")
        }
        return faults
    }

    /// Returns accepted changes whose user saw an older content afterwards, and pairs that had the lock at the same
    /// time.
    private func disorder(_ all: [Change]) -> [String] {
        var faults: [String] = []
        let isChain = all.allSatisfy { $0.kind == "exchange" }
        let next = Dictionary(
            all.filter { $0.outcome == "accepted" }.map { ($0.word, $0.from) }, uniquingKeysWith: { one, _ in one })
        for change in all where isChain && change.outcome == "accepted" {
            guard let seen = change.seen, seen != change.word else { continue }
            var place = change.from
            while place != seen, let before = next[place] { place = before }
            if place == seen { faults.append("\(change.word) was accepted, and there was \(seen) afterwards") }
        }
        let locked = all.filter { $0.commits != nil && $0.outcome == "accepted" }.sorted { $0.began < $1.began }
        for (one, other) in zip(locked, locked.dropFirst()) where other.began < one.commits ?? 0 {
            faults.append("\(one.word) and \(other.word) had the lock at the same time, and both were accepted")
        }
        return faults
    }

    /// Returns changes that were accepted at the same base.
    private func forks(_ all: [Change]) -> [String] {
        let accepted = all.filter { $0.outcome == "accepted" && $0.kind == "exchange" }
        return Dictionary(grouping: accepted, by: \.from).filter { $0.value.count > 1 }.map { from, changes in
            "two accepted changes of \(from): \(changes.map { "\($0.word) \($0.began)-\($0.ended)" })"
        }
    }
}
