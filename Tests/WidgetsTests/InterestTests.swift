import Testing

@testable import Widgets

@Suite struct `An interest` {
    @Test(arguments: [
        ("notes/*", Interest.path("notes/*")), ("", .path("")), ("defaults", .path("defaults")),
        ("a/defaults:s", .path("a/defaults:s")), ("defaults:s", .defaults("s")),
        ("defaults:s:k", .defaults("s", key: "k")), ("defaults:s:k:l:", .defaults("s", key: "k:l:")),
        ("defaults:a/b", .defaults("a/b")), ("metadata:a/*", .path("a/*", includingMetadata: true)),
        ("metadata", .path("metadata")),
    ])
    func `is said as a text`(text: String, interest: Interest) {
        #expect(Interest(text: text) == interest)
    }

    @Test(arguments: ["defaults:", "defaults::", "defaults::k", "defaults:s:", "metadata:"])
    func `that names no suite, or an empty key or pattern, is none`(text: String) {
        #expect(Interest(text: text) == nil)
    }

    @Test func `in nothing at all is one in every item`() {
        #expect(Concerns([]).items == .all)
        #expect(Concerns([]).suites.isEmpty)
    }

    @Test func `in keys alone is one in no items`() {
        #expect(Concerns([.defaults("s", key: "k")]).items == .none)
    }

    @Test func `in several patterns and keys is one in all of them`() {
        let concerns = Concerns([
            .path("a"), .defaults("s", key: "k"), .defaults("t", key: "k"), .path("b/*"), .defaults("s", key: "l"),
        ])
        #expect(concerns.items == .matching(["a", "b/*"]))
        #expect(concerns.suites == ["s": .only(["k", "l"]), "t": .only(["k"])])
    }

    @Test(arguments: [
        [Interest.defaults("s"), .defaults("s", key: "k")], [.defaults("s", key: "k"), .defaults("s")],
    ])
    func `in a suite includes one in a key of it`(interests: [Interest]) {
        #expect(Concerns(interests).suites == ["s": .all])
    }
}
