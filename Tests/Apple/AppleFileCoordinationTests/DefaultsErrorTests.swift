import AppleFileCoordination
import GroupContainer
import TestSupport
import Testing

/// Errors of calls that cannot throw: each is a line on standard error, and nothing is changed.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process, .root))
struct `Errors of group user defaults` {
    private let temporary: TemporaryContainer

    init() throws { temporary = try TemporaryContainer() }

    private func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `an object that is in no property list is refused, and the old value stays`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = temporary.path as String] in
            limitLifetime()
            let defaults = try #require(GroupUserDefaults(try Container(path: path)))
            var deep: Any = 1
            for _ in 0..<100 { deep = [deep] }
            let refused: [Any] = [
                NSNull(), NSObject(), NSNumber(value: UInt64.max), UInt64.max, [1, NSObject()], ["a": NSObject()],
                [1: "a"], Optional<Int>.none as Any, Set([1]), deep, 1...2,
            ]
            for object in refused {
                defaults.set("old", forKey: "key")
                defaults.set(object, forKey: "key")
                #expect(defaults.string(forKey: "key") == "old", "\(type(of: object))")
            }
            defaults.register(defaults: ["registered": NSObject(), "other": 1])
            #expect(defaults.object(forKey: "registered") == nil && defaults.integer(forKey: "other") == 1)
            defaults.setVolatileDomain(["key": NSObject()], forName: UserDefaults.argumentDomain)
            #expect(defaults.string(forKey: "key") == "old")
            defaults.setPersistentDomain(["key": NSObject()], forName: "any")
        }
        let lines = text(result).split(separator: "\n")
        #expect(lines.count == 14, "\(lines)")
        #expect(
            lines.first?.hasSuffix(
                "cannot set 'key': an object of type NSNull is in no property list; nothing was changed") == true)
        #expect(lines.dropFirst(2).first?.contains("18446744073709551615 is no signed integer of 64 bits") == true)
    }

    @Test func `a set that fails keeps the old value`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = temporary.path as String] in
            limitLifetime()
            let defaults = try #require(GroupUserDefaults(try Container(path: path)))
            defaults.set("old", forKey: "key")
            defaults.set(Data(count: 17 << 20), forKey: "key")
            #expect(defaults.string(forKey: "key") == "old")
            defaults.addSuite(named: "other")
            defaults.removeSuite(named: "other")
            #expect(defaults.string(forKey: "key") == "old")
        }
        let lines = text(result).split(separator: "\n")
        #expect(lines.count == 3 && lines.first?.contains("the limit is 16777216") == true, "\(lines)")
        #expect(lines.dropFirst().first?.contains("cannot add the suite 'other'") == true)
        #expect(lines.last?.contains("cannot remove the suite 'other'") == true)
    }

    @Test func `a set for which there is no room keeps the old value`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = temporary.path as String] in
            limitLifetime()
            let defaults = try #require(GroupUserDefaults(try Container(path: path)))
            defaults.set("old", forKey: "key")
            // No file may grow from now on, as on a full disk.
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            defaults.set(Data(count: 1 << 20), forKey: "key")
            #expect(defaults.string(forKey: "key") == "old")
        }
        #expect(text(result).split(separator: "\n").count == 1 && text(result).contains("cannot"), "\(text(result))")
    }

    @Test(.enabled(if: isRoot, "needs root, to read as another user"))
    func `defaults of a read-only container are read, and each change is refused`() async throws {
        let path = temporary.path
        try temporary.defaults("set", "key", "old")
        let (status, _) = try RunningProcess(["chmod", "-R", "a+rX", temporary.directory]).finish()
        #expect(status == 0)
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            limitLifetime()
            #expect(seteuid(65_534) == 0)
            let container = try Container(path: path)
            #expect(container.isReadOnly)
            let defaults = try #require(GroupUserDefaults(container))
            defaults.set("new", forKey: "key")
            defaults.removeObject(forKey: "key")
            #expect(defaults.string(forKey: "key") == "old" && defaults.synchronize())
            let values = Received<String?>()
            let observation = defaults.observe("key", options: [.initial, .new]) {
                values.append($1.newValue as? String)
            }
            #expect(values.all == ["old"])
            observation.invalidate()
            #expect(defaults.string(forKey: "key") == "old" && GroupUserDefaults(container, suite: "absent") != nil)
        }
        // The two changes, and the notifications of a suite that does not exist.
        #expect(text(result).split(separator: "\n").count == 3, "\(text(result))")
    }

    @Test func `defaults of a group are in its container, which is created`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [home = temporary.directory as String] in
            limitLifetime()
            unsafe setenv("GROUP_CONTAINERS_HOME", home, 1)
            let defaults = try #require(GroupUserDefaults(suiteName: "group.com.example.todo"))
            defaults.set(5, forKey: "key")
            let other = try #require(GroupUserDefaults(suiteName: "group.com.example.todo"))
            #expect(other.integer(forKey: "key") == 5)
            #expect(GroupUserDefaults(suiteName: nil) == nil)
            #expect(GroupUserDefaults(suiteName: "not/valid") == nil)
            #expect(GroupUserDefaults(try Container(group: "group.com.example.todo"), suite: "a/b") == nil)
        }
        #expect(text(result).split(separator: "\n").count == 3, "\(text(result))")
        #expect(text(result).contains("the suite has no name"))
        let (status, value) = try RunningProcess(
            ["groupctl", "defaults", "get", "group.com.example.todo", "standard", "key"],
            environment: ["GROUP_CONTAINERS_HOME": temporary.directory]
        ).finish()
        #expect(status == 0 && value == "5\n")
    }
}
