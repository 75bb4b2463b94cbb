import AppleFileCoordination
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Domains of group user defaults` {
    private let temporary: TemporaryContainer
    private let defaults: GroupUserDefaults
    private let name = "group.com.example.todo"

    init() throws {
        temporary = try TemporaryContainer(creating: false)
        let container = try Container(group: name, below: temporary.directory, creating: true)
        defaults = try #require(GroupUserDefaults(container))
    }

    @Test func `a registered value is found by each getter as long as nothing is set, and is not kept`() throws {
        let url = URL(filePath: "/tmp/a")
        defaults.register(defaults: [
            "registered text": "milk", "registered whole": 5, "registered number": 1.5, "registered truth": true,
            "registered data": Data([1]), "registered array": ["a"],
            "registered dictionary": ["a": 1], "registered url": url, "registered boxed": NSNumber(value: 7),
        ])
        #expect(
            defaults.string(forKey: "registered text") == "milk" && defaults.integer(forKey: "registered whole") == 5)
        #expect(
            defaults.double(forKey: "registered number") == 1.5 && defaults.float(forKey: "registered number") == 1.5)
        #expect(defaults.bool(forKey: "registered truth") && defaults.data(forKey: "registered data") == Data([1]))
        #expect(
            defaults.stringArray(forKey: "registered array") == ["a"]
                && defaults.array(forKey: "registered array")?.count == 1)
        #expect(defaults.dictionary(forKey: "registered dictionary") as? [String: Int] == ["a": 1])
        #expect(
            defaults.url(forKey: "registered url") == url && defaults.value(forKey: "registered boxed") as? Int == 7)
        defaults.set("bread", forKey: "registered text")
        #expect(defaults.string(forKey: "registered text") == "bread")
        defaults.removeObject(forKey: "registered text")
        #expect(defaults.string(forKey: "registered text") == "milk")
        defaults.register(defaults: ["registered text": "salt"])
        #expect(
            defaults.string(forKey: "registered text") == "salt" && defaults.integer(forKey: "registered whole") == 5)
        #expect(defaults.groupDefaults.dictionaryRepresentation().isEmpty)
        let other = try #require(GroupUserDefaults(defaults.groupDefaults.container, suite: "other"))
        #expect(other.string(forKey: "registered text") == "salt", "it is registered for the process")
    }

    @Test func `dictionaryRepresentation has the set values, and the registered ones where nothing is set`() {
        defaults.register(defaults: ["registered a": 1, "registered b": 1])
        defaults.set(2, forKey: "registered b")
        defaults.set(2, forKey: "c")
        defaults.setVolatileDomain(["c": 3], forName: UserDefaults.argumentDomain)
        let all = defaults.dictionaryRepresentation()
        #expect(all["registered a"] as? Int == 1 && all["registered b"] as? Int == 2 && all["c"] as? Int == 3)
    }

    @Test func `the argument domain precedes what is set, for each getter, and is not kept`() {
        defaults.set(1, forKey: "key")
        defaults.setVolatileDomain(["key": "YES", "other": "12"], forName: UserDefaults.argumentDomain)
        #expect(defaults.object(forKey: "key") as? String == "YES" && defaults.bool(forKey: "key"))
        #expect(defaults.integer(forKey: "other") == 12 && defaults.string(forKey: "other") == "12")
        #expect(defaults.volatileDomainNames.contains(UserDefaults.argumentDomain))
        #expect(defaults.volatileDomain(forName: UserDefaults.argumentDomain)["other"] as? String == "12")
        #expect(defaults.groupDefaults.dictionaryRepresentation() == ["key": 1])
        defaults.removeVolatileDomain(forName: UserDefaults.argumentDomain)
        #expect(defaults.integer(forKey: "key") == 1 && defaults.object(forKey: "other") == nil)
    }

    @Test func `a volatile domain of another name is kept by the object, and no getter looks there`() {
        defaults.setVolatileDomain(["key": 1], forName: "mine")
        #expect(defaults.volatileDomain(forName: "mine")["key"] as? Int == 1)
        #expect(defaults.object(forKey: "key") == nil)
        #expect(!defaults.volatileDomainNames.contains(UserDefaults.registrationDomain))
    }

    @Test func `a volatile domain has a URL as its path, also within an array`() {
        let url = URL(filePath: "/tmp/a")
        defaults.setVolatileDomain(
            ["url": url, "array": [url], "width": CGFloat(1.5)], forName: UserDefaults.argumentDomain)
        #expect(defaults.url(forKey: "url") == url && defaults.double(forKey: "width") == 1.5)
        #expect(defaults.stringArray(forKey: "array") == ["/tmp/a"])
    }

    @Test func `the persistent domain of the group is what is set, and is replaced or removed as one change`() {
        defaults.register(defaults: ["registered one": 1])
        defaults.set(1, forKey: "a")
        #expect(defaults.persistentDomain(forName: name) as? [String: Int] == ["a": 1])
        defaults.setPersistentDomain(["b": 2, "c": [3]], forName: name)
        #expect(defaults.groupDefaults.dictionaryRepresentation() == ["b": 2, "c": [3]])
        defaults.removePersistentDomain(forName: name)
        #expect(defaults.groupDefaults.dictionaryRepresentation().isEmpty)
        #expect(defaults.integer(forKey: "registered one") == 1)
    }

    @Test func `the persistent domain of another name is a domain of the user, as Foundation has it`() async {
        await #expect(processExitsWith: .success) {
            [directory = temporary.directory as String, name = name as String] in
            limitLifetime()
            unsafe setenv("HOME", directory, 1)
            unsafe setenv("XDG_CONFIG_HOME", directory, 1)
            let container = try Container(group: name, below: directory, creating: true)
            let defaults = try #require(GroupUserDefaults(container))
            defaults.set(1, forKey: "a")
            let other = "com.example.other"
            defaults.setPersistentDomain(["b": 2, "c": [URL(filePath: "/tmp/a")], "d": CGFloat(1)], forName: other)
            #expect(defaults.persistentDomain(forName: other)?["b"] as? Int == 2)
            #expect(UserDefaults(suiteName: other)?.integer(forKey: "b") == 2)
            defaults.removePersistentDomain(forName: other)
            #expect(defaults.persistentDomain(forName: other)?["b"] == nil)
            #expect(defaults.groupDefaults.dictionaryRepresentation() == ["a": 1])
        }
    }

    @Test func `synchronize writes everything to the disk`() {
        defaults.set(1, forKey: "a")
        #expect(defaults.synchronize())
    }

    @Test func `no key is forced, and standard and its reset are Foundation's`() {
        #expect(!defaults.objectIsForced(forKey: "a") && !defaults.objectIsForced(forKey: "a", inDomain: name))
        #expect(GroupUserDefaults.standard === UserDefaults.standard)
        GroupUserDefaults.resetStandardUserDefaults()
        #expect(UserDefaults.globalDomain == GroupUserDefaults.globalDomain)
        #expect(UserDefaults.registrationDomain == GroupUserDefaults.registrationDomain)
    }

    @Test func `each suite of a container has its own values`() throws {
        let other = try #require(GroupUserDefaults(defaults.groupDefaults.container, suite: "other"))
        other.set(1, forKey: "a")
        #expect(defaults.object(forKey: "a") == nil && other.integer(forKey: "a") == 1)
    }
}
