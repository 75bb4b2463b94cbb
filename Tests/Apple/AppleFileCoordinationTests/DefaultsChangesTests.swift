import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// What handlers received, from any thread.
final class Received<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    var count: Int { all.count }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Changes of group user defaults` {
    private let temporary: TemporaryContainer
    private let defaults: GroupUserDefaults

    init() throws {
        temporary = try TemporaryContainer()
        defaults = try temporary.userDefaults()
    }

    /// Observes the notifications of an object, with the thread of each.
    private func notifications(of defaults: UserDefaults) -> (Received<UInt>, any NSObjectProtocol) {
        let received = Received<UInt>()
        let observer = NotificationCenter.default.addObserver(
            forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
        ) { notification in
            #expect(notification.userInfo == nil)
            received.append(UInt(pthread_self()))
        }
        return (received, observer)
    }

    /// Changes of a key as numbers: the old value, the new one, and the thread.
    private struct Step: Equatable, Sendable {
        var old: Int?
        var new: Int?
    }

    private func steps(
        of key: String, _ options: NSKeyValueObservingOptions
    ) -> (Received<Step>, NSKeyValueObservation) {
        let received = Received<Step>()
        let observation = defaults.observe(key, options: options) { _, change in
            received.append(Step(old: change.oldValue as? Int, new: change.newValue as? Int))
        }
        return (received, observation)
    }

    @Test func `a set posts didChangeNotification on its thread before it returns`() {
        let (received, observer) = notifications(of: defaults)
        let own = UInt(pthread_self())
        defaults.set(1, forKey: "a")
        #expect(received.all == [own])
        defaults.set(1, forKey: "a")
        defaults.removeObject(forKey: "a")
        defaults.set(URL(filePath: "/tmp"), forKey: "a")
        #expect(received.all == [own, own, own, own])
        defaults.removeObject(forKey: "absent")
        #expect(received.count == 4, "nothing has changed")
        // Each set wakes the thread for other processes, too, which must not be faster.
        for number in 1...1_000 {
            defaults.set(number, forKey: "a")
            if received.count != 4 + number { break }
        }
        #expect(received.count == 1_004 && received.all.allSatisfy { $0 == own })
        NotificationCenter.default.removeObserver(observer)
    }

    @Test func `a set of another process posts didChangeNotification, once, with the value in place`() throws {
        let (received, observer) = notifications(of: defaults)
        try temporary.defaults("set", "--type", "int", "a", "1")
        #expect(eventually { received.count == 1 })
        #expect(defaults.integer(forKey: "a") == 1)
        try temporary.defaults("delete", "a")
        #expect(eventually { received.count == 2 })
        try temporary.defaults("import", "/dev/stdin", input: #"{"a": 1, "b": 2}"#)
        #expect(eventually { received.count == 3 }, "an import is one change")
        defaults.set(1, forKey: "c")
        #expect(received.count == 4)
        NotificationCenter.default.removeObserver(observer)
    }

    @Test func `a set by another object of the process posts the notification of each object`() throws {
        let other = try temporary.userDefaults()
        let (mine, observer) = notifications(of: defaults)
        let (theirs, second) = notifications(of: other)
        other.set(1, forKey: "a")
        #expect(theirs.count == 1)
        #expect(eventually { mine.count == 1 })
        for observer in [observer, second] { NotificationCenter.default.removeObserver(observer) }
    }

    @Test func `replacing a domain posts one notification, and tells the observer of each key`() throws {
        let container = try Container(group: "group.test", below: temporary.directory, creating: true)
        let defaults = try #require(GroupUserDefaults(container))
        defaults.set(1, forKey: "a")
        let (received, observer) = notifications(of: defaults)
        let values = Received<Int?>()
        let observation = defaults.observe("a", options: .new) { values.append($1.newValue as? Int) }
        defaults.setPersistentDomain(["b": 1, "c": 2], forName: "group.test")
        #expect(received.count == 1 && values.all == [nil])
        defaults.removePersistentDomain(forName: "group.test")
        #expect(received.count == 2 && values.all == [nil])
        observation.invalidate()
        NotificationCenter.default.removeObserver(observer)
    }

    @Test func `an observer gets the values that its options name, and the present value first`() {
        defaults.set(1, forKey: "a")
        let (bare, first) = steps(of: "a", [])
        let (new, second) = steps(of: "a", [.new, .initial])
        let (both, third) = steps(of: "a", [.old, .new])
        let (initial, fourth) = steps(of: "a", [.initial, .old])
        defaults.set(2, forKey: "a")
        defaults.set(5, forKey: "other")
        defaults.removeObject(forKey: "a")
        #expect(bare.all == [Step(), Step()])
        #expect(new.all == [Step(new: 1), Step(new: 2), Step()])
        #expect(both.all == [Step(old: 1, new: 2), Step(old: 2)])
        #expect(initial.all == [Step(), Step(old: 1), Step(old: 2)])
        for observation in [first, second, third, fourth] { observation.invalidate() }
    }

    @Test func `an observer of a key without a value gets the registered one`() {
        defaults.register(defaults: ["registered c": 7])
        let (received, observation) = steps(of: "registered c", [.initial, .old, .new])
        defaults.set(1, forKey: "registered c")
        defaults.removeObject(forKey: "registered c")
        #expect(received.all == [Step(new: 7), Step(old: 7, new: 1), Step(old: 1, new: 7)])
        observation.invalidate()
    }

    @Test func `an observer gets each change of other processes once, in order`() throws {
        let (received, observation) = steps(of: "n", [.old, .new])
        try temporary.defaults("batch", input: String(repeating: "increment n\nincrement other\n", count: 200))
        #expect(eventually { received.count == 200 })
        #expect(received.all == (0..<200).map { Step(old: $0 == 0 ? nil : $0, new: $0 + 1) })
        observation.invalidate()
    }

    @Test func `an observer gets the changes of this process and another one in one order, each once`() throws {
        let (received, observation) = steps(of: "n", [.old, .new])
        let other = Side { [temporary] in
            try temporary.defaults("batch", input: String(repeating: "increment n\n", count: 300))
        }
        for number in 1...300 { defaults.set(1_000 * number, forKey: "n") }
        _ = try other.answer()
        #expect(eventually { received.count == 600 })
        let steps = received.all
        #expect(steps.count == 600 && steps.first?.old == nil)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.new == $1.old })
        #expect(steps.count { ($0.new ?? 1) % 1_000 == 0 } == 300)
        observation.invalidate()
    }

    @Test func `a handler may set values: their changes follow after its own`() {
        let received = Received<Int?>()
        let observation = defaults.observe("a", options: .new) { defaults, change in
            let value = change.newValue as? Int ?? 0
            if value < 3 { defaults.set(value + 1, forKey: "a") }
            received.append(value)
        }
        defaults.set(1, forKey: "a")
        #expect(received.all == [1, 2, 3])
        observation.invalidate()
    }

    @Test func `an observation ends when it is invalidated, or released, or the defaults are released`() throws {
        let (invalidated, observation) = steps(of: "a", .new)
        observation.invalidate()
        let released = Received<Int>()
        do {
            let observation = defaults.observe("a") { _, _ in released.append(1) }
            defaults.set(1, forKey: "a")
            _ = observation
        }
        let orphaned = Received<Int>()
        var other: GroupUserDefaults? = try temporary.userDefaults()
        let third = other?.observe("a") { _, _ in orphaned.append(1) }
        other?.set(2, forKey: "a")
        other = nil
        let (seen, fourth) = steps(of: "a", .new)
        try temporary.defaults("set", "--type", "int", "a", "3")
        #expect(eventually { seen.count == 1 })
        #expect(invalidated.count == 0 && released.count == 1 && orphaned.count == 1)
        _ = third
        fourth.invalidate()
    }

    @Test func `an object that is released posts nothing more, and leaves its container`() throws {
        weak var released: GroupUserDefaults?
        weak var container: Container?
        var observation: NSKeyValueObservation?
        do {
            let opened = try Container(path: temporary.path)
            let other = try #require(GroupUserDefaults(opened))
            (released, container) = (other, opened)
            observation = other.observe("a", options: .initial) { _, _ in }
            other.set(1, forKey: "a")
        }
        #expect(eventually { released == nil && container == nil })
        observation?.invalidate()
    }

    @Test func `the threads of objects that are released end`() async {
        await #expect(processExitsWith: .success) { [path = temporary.path as String] in
            limitLifetime()
            let container = try Container(path: path)
            var observations: [NSKeyValueObservation] = []
            for _ in 0..<40 {
                let defaults = try #require(GroupUserDefaults(container))
                observations.append(defaults.observe("a") { _, _ in })
            }
            // Some threads are kept for a while, for other work.
            #expect(
                try eventually { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count < 30 })
            #expect(observations.count == 40)
        }
    }
}
