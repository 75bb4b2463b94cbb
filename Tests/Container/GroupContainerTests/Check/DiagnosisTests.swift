import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog
@testable import GroupLocking

@Suite(.tags(.namespaces)) struct `Findings from facts` {
    private func codes(_ findings: [Finding]) -> [String] { findings.map { "\($0.severity) \($0.code)" } }

    @Test func `a healthy container has no findings`() {
        #expect(LocationFacts(name: "./x", path: "./x", situation: .container).findings == [])
        #expect(PartsFacts().findings == [])
        #expect(MembersFacts().findings == [])
        #expect(JournalFacts().findings == [])
        var watching = WatchingFacts()
        watching.leader = WatchingFacts.Leader(process: MemberProcess(identifier: 1), purpose: "p", replies: true)
        #expect(watching.findings == [])
        watching.leader?.replies = nil
        #expect(watching.findings == [], "it could not be probed")
    }

    @Test func `a lock held for long is a finding, and a lock that is waited for is not`() {
        func facts(
            _ lasting: Int64, isWaiting: Bool = false, isStopped: Bool = false, namespace: UInt64? = nil
        ) -> MembersFacts {
            var facts = MembersFacts()
            let process = MemberProcess(
                identifier: 7, pidNamespace: namespace, condition: isStopped ? .stopped : .running)
            let access = MembersFacts.Lock(path: "item", isWriting: true, isWaiting: isWaiting, lasting: lasting)
            facts.living = [.init(process: process, purpose: "p", locks: [access])]
            return facts
        }
        let long = MembersFacts.longLock
        #expect(facts(long - 1).findings == [])
        #expect(codes(facts(long).findings) == ["warning lockHeldLong"])
        #expect(facts(long).findings.first?.what == "process 7, p has held 'item' for 5 min")
        #expect(facts(long, isWaiting: true).findings == [])
        #expect(codes(facts(0, isStopped: true).findings) == ["warning lockHolderStopped"])
        #expect(facts(0, isWaiting: true, isStopped: true).findings == [])
        // A process number of another PID namespace may be another process's here.
        #expect(facts(0, isStopped: true).findings.first?.remedy.contains("kill -CONT 7") == true)
        let elsewhere = facts(0, isStopped: true, namespace: 42).findings.first
        #expect(elsewhere?.what == "process 7 of PID namespace 42, p is stopped, and holds 'item'")
        #expect(elsewhere?.remedy == "continue or end it from its own PID namespace, which frees what it holds")
        #expect(elsewhere?.process == nil)
    }

    @Test func `inotify watches must suffice for all directories, unless a leader has its watches already`() {
        var facts = WatchingFacts()
        facts.directories = 100
        facts.watches = WatchingFacts.Limit(limit: InotifyLimit(.watches, name: "w", number: 150), used: 48)
        #expect(codes(facts.findings) == ["note leaderMissing"])
        facts.watches?.used = 49
        #expect(codes(facts.findings) == ["note leaderMissing", "warning inotifyWatches"])
        facts.leader = WatchingFacts.Leader(process: MemberProcess(identifier: 1), purpose: "p", replies: true)
        #expect(facts.findings == [])
        facts.watches?.used = 149
        #expect(codes(facts.findings) == ["warning inotifyWatches"])
        facts.instances = WatchingFacts.Limit(limit: InotifyLimit(.instances, name: "i", number: 128), used: 127)
        facts.watches = nil
        #expect(facts.findings == [])
        facts.instances?.used = 128
        #expect(codes(facts.findings) == ["warning inotifyInstances"])
        #expect(facts.findings.first?.remedy.contains("'sysctl i=1024'") == true)
    }

    @Test func `a directory that the leader reports as unwatched is not reported again as unreadable`() {
        var facts = WatchingFacts()
        facts.leader = WatchingFacts.Leader(process: MemberProcess(identifier: 1), purpose: "p", replies: false)
        facts.degraded = ("closed", "why")
        facts.unreadable = [("closed", .accessDenied), ("other", .inputOutput)]
        facts.moreUnreadable = 3
        #expect(
            codes(facts.findings) == [
                "warning leaderSilent", "warning watchingDegraded", "warning directoryUnreadable",
            ])
        #expect(facts.findings.last?.what.hasSuffix("(and 3 more like it)") == true)
    }

    @Test func `a watch gap of a leader that has gone is not reported`() {
        var facts = WatchingFacts()
        facts.degraded = ("", "no inotify instance was left")
        #expect(codes(facts.findings) == ["note leaderMissing"])
    }

    @Test func `a refused journal write is an error only in the newest segment`() {
        var facts = JournalFacts()
        facts.failedSyncs = [("1.log", false)]
        #expect(codes(facts.findings) == ["warning journalNotDurable"])
        facts.failedSyncs = [("2.log", true)]
        #expect(codes(facts.findings) == ["error journalNotDurable"])
    }

    @Test func `little free space and a clock behind the journal are warnings`() {
        var facts = JournalFacts()
        (facts.free, facts.needed) = (99, 100)
        #expect(codes(facts.findings) == ["warning spaceLow"])
        (facts.free, facts.freeInodes) = (100, 15)
        #expect(codes(facts.findings) == ["warning spaceLow"])
        #expect(facts.findings.first?.what.contains("15 inodes") == true)
        (facts.free, facts.freeInodes) = (100, 16)
        (facts.now, facts.newest) = (0, 60_000_000_000)
        #expect(facts.findings == [])
        facts.newest = 60_000_000_001
        #expect(codes(facts.findings) == ["warning clockBehind"])
        facts.newest = -1 << 62
        #expect(facts.findings == [])
    }

    @Test func `a repair is offered only for a part that is unused and could be read`() {
        for path in [\PartsFacts.format, \.lock, \.memberTable, \.presenters] {
            var facts = PartsFacts()
            facts[keyPath: path] = .failed("EIO")
            #expect(codes(facts.findings) == ["error partDamaged"] && facts.findings.allSatisfy { $0.repaired == nil })
            facts[keyPath: path] = .missing
            #expect(facts.findings.map { $0.repaired == nil } == [false])
            facts.isInUse = true
            #expect(facts.findings.map { $0.repaired == nil } == [true])
        }
        var other = PartsFacts()
        other.isOtherLockFile = true
        #expect(codes(other.findings) == ["note containerCopied"])
        other.isInUse = true
        #expect(codes(other.findings) == ["error lockFileReplaced"])
        other.openingFor = 1_000_000_000
        other.opener = (12, "stuck")
        #expect(codes(other.findings) == ["error lockFileReplaced", "error openingBlocked"])
        #expect(other.findings.last?.process == 12)
    }

    @Test(arguments: Finding.Code.allCases) func `doctor.md has a row for each finding code`(code: Finding.Code)
        throws
    {
        let page = try String(contentsOf: projectDirectory.appending(path: "docs/reference/doctor.md"), encoding: .utf8)
        // A service's finding has a name of its own.
        if code == .service { return }
        let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(code.rawValue)` |") }
        #expect(row?.split(separator: "|").count == 4, "\(row ?? "none")")
    }

    @Test func `every finding has a reason and a remedy`() {
        var parts = PartsFacts()
        (parts.format, parts.lock, parts.memberTable) = (.newer("n"), .failed("f"), .damaged("d"))
        parts.presenters = .newer("n")
        parts.readOnlyCause = "r"
        var journal = JournalFacts()
        journal.damage = [.init(file: "1.log", cause: "c")]
        journal.newer = journal.damage
        journal.failed = journal.damage
        journal.cut = ["1.log", "2.log"]
        journal.temporary = "tmpfs"
        var all = parts.findings + journal.findings
        for checkpoint in [JournalFacts.Checkpoint.damaged("d"), .newer("n"), .lost("l")] {
            journal = JournalFacts()
            journal.checkpoint = checkpoint
            all += journal.findings
        }
        #expect(all.count == 13)
        #expect(all.allSatisfy { !$0.what.isEmpty && !$0.why.isEmpty && !$0.remedy.isEmpty })
    }

    @Test func `the finding for a container that cannot be opened names the cause`() {
        let barrier = PathObstacle.Barrier(path: "/c", owner: 1, group: 2, mode: 0o750, user: 3)
        var facts = LocationFacts(name: "g", path: "/c", situation: .forbidden(barrier))
        #expect(codes(facts.findings) == ["error notPermitted"])
        #expect(facts.findings.first?.what == "user 3 may not enter it: it has mode 0750, of user 1 and group 2")
        facts.situation = .unsupported("it lies on NFS")
        #expect(codes(facts.findings) == ["error fileSystemUnsupported"])
        facts.situation = .failed("a reason")
        #expect(codes(facts.findings) == ["error partDamaged"])
        #expect(facts.findings.first?.what == "a reason")
    }

    @Test func `the finding for a dead member names the items it was changing`() {
        var facts = MembersFacts()
        facts.dead = [.init(process: MemberProcess(identifier: 9), purpose: "p", items: ["a", "b"])]
        #expect(codes(facts.findings) == ["warning deadMember"])
        #expect(facts.findings.first?.what == "process 9, p, died in the middle of a change of 'a', 'b'")
        facts.dead[0].items = []
        #expect(facts.findings.first?.what == "process 9, p, died in the middle of a change of an item")
    }

    @Test func `the finding for an unreadable log names the error`() {
        var store = LogFacts(kind: .suite, name: "s")
        store.segments = [.init(name: "1.log", isNewest: true, failed: "Input/output error")]
        #expect(codes(store.findings) == ["error partDamaged"])
        #expect(store.findings.first?.what == "Input/output error")
        var all = LogsFacts()
        all.failed = [(item: ".group/defaults", cause: "Permission denied")]
        #expect(codes(all.findings) == ["error partDamaged"])
    }
}

@Suite(.tags(.namespaces)) struct `Bounded events` {
    @Test(arguments: [1, 2, 7]) func `bounded events keep the latest and count those dropped`(limit: Int) {
        var events = BoundedEvents<Int>(limit: limit)
        #expect(events.isEmpty && events.next() == nil)
        for number in 0..<20 { events.add(number) }
        var seen: [String] = []
        while let next = events.next() {
            switch next {
            case .dropped(let count): seen.append("-\(count)")
            case .event(let number): seen.append("\(number)")
            }
        }
        #expect(seen == ["-\(20 - limit)"] + ((20 - limit)..<20).map(String.init))
        #expect(events.isEmpty)
        events.add(99)
        if case .event(let number)? = events.next() { #expect(number == 99) } else { Issue.record("it was lost") }
        #expect(events.next() == nil)
    }
}
