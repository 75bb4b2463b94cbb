import AppleFileCoordination
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `Group user defaults` {
    private let temporary: TemporaryContainer
    private let defaults: GroupUserDefaults

    init() throws {
        temporary = try TemporaryContainer()
        defaults = try temporary.userDefaults()
    }

    private func stored(_ key: String) -> DefaultsValue? { defaults.groupDefaults.value(forKey: key) }

    @Test func `a Swift value of each type of a property list is stored as such, and read as it was set`() {
        let date = Date(timeIntervalSinceReferenceDate: 0.1)
        defaults.set("milk" as Any, forKey: "text")
        #expect(stored("text") == "milk" && defaults.object(forKey: "text") as? String == "milk")
        defaults.set(5 as Any, forKey: "whole")
        #expect(stored("whole") == 5 && defaults.object(forKey: "whole") as? Int == 5)
        defaults.set(1.5 as Any, forKey: "number")
        #expect(stored("number") == 1.5 && defaults.object(forKey: "number") as? Double == 1.5)
        defaults.set(Float(1.5) as Any, forKey: "single")
        #expect(stored("single") == .float(1.5) && defaults.object(forKey: "single") as? Float == 1.5)
        defaults.set(true as Any, forKey: "truth")
        #expect(stored("truth") == true && defaults.object(forKey: "truth") as? Bool == true)
        defaults.set(Data([1, 2]) as Any, forKey: "data")
        #expect(stored("data") == .data([1, 2]) && defaults.object(forKey: "data") as? Data == Data([1, 2]))
        defaults.set(date as Any, forKey: "date")
        #expect(stored("date") == .date(date) && defaults.object(forKey: "date") as? Date == date)
        defaults.set(["a", "b"], forKey: "array")
        #expect(stored("array") == ["a", "b"] && defaults.object(forKey: "array") as? [String] == ["a", "b"])
        defaults.set(["a": 1], forKey: "dictionary")
        #expect(stored("dictionary") == ["a": 1] && defaults.object(forKey: "dictionary") as? [String: Int] == ["a": 1])
        defaults.set(["a": [1, "b", ["c": true]] as [Any], "d": 1.5] as [String: Any], forKey: "mixed")
        #expect(stored("mixed") == ["a": [1, "b", ["c": true]], "d": 1.5])
        let mixed = defaults.object(forKey: "mixed") as? [String: Any]
        let elements = mixed?["a"] as? [Any]
        #expect(elements?[0] as? Int == 1 && elements?[1] as? String == "b")
        #expect(elements?[2] as? [String: Bool] == ["c": true])
    }

    @Test func `a number is found as another type by its getter, and by way of NSNumber`() {
        func value<Value>(_ key: String, or standard: Value) -> Value {
            defaults.object(forKey: key).flatMap { ($0 as? NSNumber ?? $0) as? Value } ?? standard
        }
        defaults.set(16, forKey: "size")
        defaults.set(true, forKey: "flag")
        defaults.set(1, forKey: "one")
        defaults.set("16", forKey: "text")
        // As documented, and as Foundation has it on Linux.
        #expect(defaults.object(forKey: "size") as? Double == nil)
        #expect(defaults.double(forKey: "size") == 16)
        let (real, whole): (Double, Int) = (2.5, 7)
        #expect(value("size", or: real) == 16 && value("size", or: whole) == 16 && value("size", or: Float(1)) == 16)
        #expect(value("flag", or: false) && value("flag", or: whole) == 1 && value("one", or: false))
        #expect(value("text", or: "") == "16" && value("text", or: whole) == 7 && value("none", or: real) == 2.5)
    }

    @Test func `an object of each class of a property list is stored as the type that it bridges to`() {
        let samples: [(object: Any, value: DefaultsValue)] = [
            (NSString("milk"), "milk"), (NSNumber(value: 5), 5), (NSNumber(value: 1), 1), (NSNumber(value: 0), 0),
            (NSNumber(value: true), true), (NSNumber(value: false), false), (NSNumber(value: 1.5), 1.5),
            (NSNumber(value: 2.0), .double(2)), (NSNumber(value: Float(1.5)), .float(1.5)),
            (NSNumber(value: Int8(-1)), -1), (NSNumber(value: UInt64(7)), 7),
            (NSNumber(value: Int.min), .integer(.min)),
            (NSData(data: Data([1])), .data([1])),
            (NSDate(timeIntervalSinceReferenceDate: 1), .date(Date(timeIntervalSinceReferenceDate: 1))),
            (NSArray(array: [1, "a"]), [1, "a"]), (NSDictionary(dictionary: ["a": true]), ["a": true]),
            (["a": NSNumber(value: true), "b": NSNumber(value: 1)], ["a": true, "b": 1]),
            ([NSString("a"), NSArray(array: [2])], ["a", [2]]),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(stored("key") == value, "\(object)")
        }
    }

    @Test func `a number of each Swift type is stored as a whole number or with its fraction`() {
        let samples: [(object: Any, value: DefaultsValue)] = [
            (Int8(-1), -1), (Int16(-1), -1), (Int32(-1), -1), (Int64(-1), -1), (UInt8(1), 1), (UInt16(1), 1),
            (UInt32(1), 1), (UInt64(1), 1), (UInt(1), 1), (Int.max, .integer(.max)), (CGFloat(1.5), 1.5),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(stored("key") == value, "\(type(of: object))")
        }
    }

    @Test func `true stays a truth value, and 1 a whole number, through the setters of these types`() throws {
        defaults.set(true, forKey: "truth")
        defaults.set(1, forKey: "whole")
        defaults.set(1.0, forKey: "number")
        defaults.set(Float(0.1), forKey: "single")
        #expect(stored("truth") == true && stored("whole") == 1 && stored("number") == .double(1))
        #expect(stored("single") == .float(0.1))
        #expect(defaults.object(forKey: "truth") is Bool && defaults.object(forKey: "whole") is Int)
        #expect(!(defaults.object(forKey: "truth") is Int) && !(defaults.object(forKey: "whole") is Bool))
        #expect(!(defaults.object(forKey: "whole") is Double) && defaults.double(forKey: "whole") == 1)
        #expect(try temporary.defaults("get", "truth", "--json") == "true\n")
        #expect(try temporary.defaults("get", "whole", "--json") == "1\n")
        #expect(try temporary.defaults("get", "number", "--json") == "1.0\n")
    }

    @Test func `integer(forKey:) converts a number, a truth value and a text, and is 0 for anything else`() {
        let samples: [(Any, Int)] = [
            (12, 12), (12.7, 12), (-12.7, -12), (true, 1), (false, 0), ("12", 12), ("12 eggs", 12), ("eggs", 0),
            (Date(), 0), ([1], 0), (Data([1]), 0),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(defaults.integer(forKey: "key") == value, "\(object)")
        }
        #expect(defaults.integer(forKey: "absent") == 0)
    }

    @Test
    func `float(forKey:) and double(forKey:) convert a number, a truth value and a text, and are 0 for anything else`()
    {
        let samples: [(Any, Double)] = [
            (1.5, 1.5), (Float(1.5), 1.5), (12, 12), (true, 1), ("1.5", 1.5), ("-2e1 m", -20), ("m", 0), (Date(), 0),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(defaults.double(forKey: "key") == value, "\(object)")
            #expect(defaults.float(forKey: "key") == Float(value), "\(object)")
        }
        #expect(defaults.double(forKey: "absent") == 0 && defaults.float(forKey: "absent") == 0)
    }

    @Test func `bool(forKey:) is true for true, a number other than 0 and a text that means yes`() {
        let samples: [(Any, Bool)] = [
            (true, true), (false, false), (1, true), (-1, true), (0, false), (0.5, true), (0.0, false), ("YES", true),
            ("yes", true), ("true", true), ("1", true), ("NO", false), ("0", false), ("false", false), ("", false),
            ("on", false), (Date(), false), ([true], false),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(defaults.bool(forKey: "key") == value, "\(object)")
        }
        #expect(!defaults.bool(forKey: "absent"))
    }

    @Test func `string(forKey:) returns a text, and a number as a text, and nil for anything else`() {
        let samples: [(Any, String?)] = [
            ("milk", "milk"), ("", ""), (12, "12"), (1.5, "1.5"), (true, "1"), (Date(), nil), (["a"], nil),
            (Data([65]), nil),
        ]
        for (object, value) in samples {
            defaults.set(object, forKey: "key")
            #expect(defaults.string(forKey: "key") == value, "\(object)")
        }
        #expect(defaults.string(forKey: "absent") == nil)
    }

    @Test
    func `array(forKey:), stringArray(forKey:), dictionary(forKey:) and data(forKey:) return only values of that type`()
    {
        defaults.set(["a", "b"], forKey: "texts")
        defaults.set([1, 2], forKey: "numbers")
        defaults.set(["a": 1], forKey: "dictionary")
        defaults.set(Data([1]), forKey: "data")
        defaults.set("text", forKey: "text")
        #expect(defaults.array(forKey: "texts") as? [String] == ["a", "b"])
        #expect(defaults.array(forKey: "numbers") as? [Int] == [1, 2])
        #expect(defaults.array(forKey: "text") == nil && defaults.array(forKey: "absent") == nil)
        #expect(defaults.stringArray(forKey: "texts") == ["a", "b"])
        #expect(defaults.stringArray(forKey: "numbers") == nil, "numbers are not converted")
        #expect(defaults.stringArray(forKey: "text") == nil && defaults.stringArray(forKey: "absent") == nil)
        #expect(defaults.dictionary(forKey: "dictionary") as? [String: Int] == ["a": 1])
        #expect(defaults.dictionary(forKey: "texts") == nil && defaults.dictionary(forKey: "absent") == nil)
        #expect(defaults.data(forKey: "data") == Data([1]))
        #expect(defaults.data(forKey: "text") == nil && defaults.data(forKey: "absent") == nil)
    }

    @Test func `a URL keeps its scheme, and a text is the path of a file`() throws {
        let page = try #require(URL(string: "https://example.com/a?b=c#d"))
        defaults.set(page, forKey: "page")
        #expect(defaults.url(forKey: "page") == page && defaults.object(forKey: "page") as? URL == page)
        let file = URL(filePath: "/tmp/a b")
        defaults.set(file as Any, forKey: "file")
        #expect(defaults.url(forKey: "file") == file)
        defaults.set(NSURL(fileURLWithPath: "/tmp/c"), forKey: "object")
        #expect(defaults.url(forKey: "object") == URL(filePath: "/tmp/c"))
        defaults.set("/tmp/d", forKey: "path")
        #expect(defaults.url(forKey: "path") == URL(filePath: "/tmp/d"))
        defaults.set("~/e", forKey: "path")
        #expect(defaults.url(forKey: "path")?.path == NSString("~/e").expandingTildeInPath)
        defaults.set(5, forKey: "number")
        defaults.set(Data([1]), forKey: "data")
        #expect(defaults.url(forKey: "data") == nil)
        #expect(defaults.url(forKey: "number") == nil && defaults.url(forKey: "absent") == nil)
        defaults.set(nil as URL?, forKey: "page")
        #expect(defaults.url(forKey: "page") == nil)
    }

    @Test func `nil and removeObject(forKey:) remove a value, also for other processes`() throws {
        for key in ["first", "second", "third"] { defaults.set(1, forKey: key) }
        defaults.set(nil, forKey: "first")
        defaults.removeObject(forKey: "second")
        defaults.setValue(nil, forKey: "third")
        defaults.removeObject(forKey: "absent")
        #expect(defaults.object(forKey: "first") == nil && defaults.object(forKey: "second") == nil)
        #expect(try temporary.defaults("list", "--json") == "{}\n")
    }

    @Test func `value(forKey:) and setValue(_:forKey:) are object(forKey:) and set(_:forKey:)`() {
        defaults.setValue(5, forKey: "key")
        #expect(defaults.value(forKey: "key") as? Int == 5 && defaults.integer(forKey: "key") == 5)
        #expect(defaults.value(forKey: "absent") == nil)
    }

    @Test func `other processes see a set at once, and a set of another process is seen at once`() throws {
        defaults.set("mine", forKey: "key")
        #expect(try temporary.defaults("get", "key") == "mine\n")
        try temporary.defaults("set", "key", "theirs")
        #expect(defaults.string(forKey: "key") == "theirs")
        try temporary.defaults("set", "--type", "json", "list", #"[1,{"a":true}]"#)
        let list = defaults.array(forKey: "list")
        #expect(list?.first as? Int == 1 && list?.last as? [String: Bool] == ["a": true])
        try temporary.defaults("delete", "key")
        #expect(defaults.string(forKey: "key") == nil)
    }

    @Test func `code that takes a UserDefaults works on a GroupUserDefaults`() throws {
        func count(in defaults: UserDefaults) -> Int {
            defaults.set(defaults.integer(forKey: "opened") + 1, forKey: "opened")
            defaults.set(URL(string: "todo://list"), forKey: "place")
            return defaults.integer(forKey: "opened")
        }
        #expect(count(in: defaults) == 1 && count(in: defaults) == 2)
        #expect(try temporary.defaults("get", "opened") == "2\n")
        #expect(defaults.url(forKey: "place")?.scheme == "todo")
    }

    @Test func `several threads may use one object`() async {
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask { [defaults = DefaultsReference(defaults)] in
                    for value in 1...100 { defaults.object.set(value, forKey: "key-\(number)") }
                }
            }
        }
        #expect((0..<8).allSatisfy { defaults.integer(forKey: "key-\($0)") == 100 })
    }
}
