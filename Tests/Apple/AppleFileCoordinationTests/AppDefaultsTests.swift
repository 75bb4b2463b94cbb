import AppleFileCoordination
import GroupContainer
import TestSupport
import Testing

// Code as it stands in many apps. This is its one changed line: without it, the code compiles with Foundation's type.
private typealias UserDefaults = GroupUserDefaults

/// What an app keeps as JSON.
private struct Profile: Codable, Equatable {
    var name: String
    var birthday: Date
}

/// The keys of an app, and how it saves, loads and clears them.
private final class SettingsManager {
    private enum Keys {
        static let theme = "theme"
        static let profile = "profile"
        static let recent = "recent"
    }

    private let defaults: UserDefaults

    init?(group: String) {
        guard let defaults = UserDefaults(suiteName: group) else { return nil }
        self.defaults = defaults
        defaults.register(defaults: [Keys.theme: "light"])
    }

    var theme: String {
        get { defaults.string(forKey: Keys.theme) ?? "" }
        set { defaults.set(newValue, forKey: Keys.theme) }
    }

    var recent: [String] {
        get { defaults.stringArray(forKey: Keys.recent) ?? [] }
        set { defaults.set(newValue, forKey: Keys.recent) }
    }

    func save(_ profile: Profile) throws {
        defaults.set(try JSONEncoder().encode(profile), forKey: Keys.profile)
        defaults.synchronize()
    }

    func loadProfile() throws -> Profile? {
        try defaults.data(forKey: Keys.profile).map { try JSONDecoder().decode(Profile.self, from: $0) }
    }

    func clear() {
        for key in [Keys.theme, Keys.profile, Keys.recent] { defaults.removeObject(forKey: key) }
    }
}

/// A property that is kept in the defaults.
@propertyWrapper private struct Stored<Value> {
    let key: String
    let defaultValue: Value
    let storage: UserDefaults

    var wrappedValue: Value {
        get { storage.object(forKey: key) as? Value ?? defaultValue }
        nonmutating set { storage.set(newValue, forKey: key) }
    }

    init(wrappedValue: Value, _ key: String, in storage: UserDefaults) {
        self.key = key
        defaultValue = wrappedValue
        self.storage = storage
    }
}

private struct Settings {
    @Stored<Bool> var isOn: Bool
    @Stored<Int> var count: Int
    @Stored<Double> var volume: Double
    @Stored<String> var name: String
    @Stored<Date?> var seen: Date?
    @Stored<[String: Int]> var scores: [String: Int]

    init(in storage: UserDefaults) {
        _isOn = Stored(wrappedValue: true, "isOn", in: storage)
        _count = Stored(wrappedValue: 0, "count", in: storage)
        _volume = Stored(wrappedValue: 0.5, "volume", in: storage)
        _name = Stored(wrappedValue: "", "name", in: storage)
        _seen = Stored(wrappedValue: nil, "seen", in: storage)
        _scores = Stored(wrappedValue: [:], "scores", in: storage)
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Code of apps on group user defaults` {
    private let temporary: TemporaryContainer

    init() throws { temporary = try TemporaryContainer(creating: false) }

    @Test func `a manager class saves, loads and clears, and another process reads what it saved`() async throws {
        await #expect(processExitsWith: .success) { [home = temporary.directory as String] in
            limitLifetime()
            unsafe setenv("GROUP_CONTAINERS_HOME", home, 1)
            let group = "group.com.example.todo"
            let app = try #require(SettingsManager(group: group))
            let widget = try #require(SettingsManager(group: group))
            let profile = Profile(name: "Ada", birthday: Date(timeIntervalSinceReferenceDate: 0))
            #expect(app.theme == "light" && app.recent == [])
            app.theme = "dark"
            app.recent = ["milk", "bread"]
            try app.save(profile)
            #expect(widget.theme == "dark" && widget.recent == ["milk", "bread"])
            #expect(try widget.loadProfile() == profile)
            let (status, theme) = try RunningProcess(["groupctl", "defaults", "get", group, "standard", "theme"])
                .finish()
            #expect(status == 0 && theme == "dark\n")
            app.clear()
            #expect(try widget.loadProfile() == nil && widget.theme == "light" && widget.recent == [])
        }
    }

    @Test func `a property wrapper reads each type as it was set`() throws {
        let container = try Container(path: temporary.path, creating: true)
        let app = Settings(in: try #require(UserDefaults(container)))
        let widget = Settings(in: try #require(UserDefaults(container)))
        #expect(app.isOn && app.count == 0 && app.volume == 0.5 && app.seen == nil && app.scores == [:])
        let now = Date()
        (app.isOn, app.count, app.volume, app.name, app.seen) = (false, 3, 1, "Ada", now)
        app.scores = ["a": 1]
        #expect(!widget.isOn && widget.count == 3 && widget.volume == 1 && widget.name == "Ada")
        #expect(widget.seen == now && widget.scores == ["a": 1])
    }

    @Test func `an observer of didChangeNotification reads the value that another process has set`() throws {
        let temporary = try TemporaryContainer()
        let defaults = try #require(UserDefaults(try temporary.open()))
        let themes = Received<String?>()
        let observer = NotificationCenter.default.addObserver(
            forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
        ) { notification in
            themes.append((notification.object as? UserDefaults)?.string(forKey: "theme"))
        }
        try temporary.defaults("set", "theme", "dark")
        #expect(eventually { themes.all == ["dark"] })
        NotificationCenter.default.removeObserver(observer)
    }
}
