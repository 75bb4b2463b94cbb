import Testing

@testable import Widgets

@Suite struct `An interest` {
    @Test(arguments: [
        ("notes/*", WidgetInterest.path("notes/*")), ("", .path("")), ("defaults", .path("defaults")),
        ("a/defaults:s", .path("a/defaults:s")), ("defaults:s", .defaults("s")),
        ("defaults:s:k", .defaults("s", key: "k")), ("defaults:s:k:l:", .defaults("s", key: "k:l:")),
        ("defaults:a/b", .defaults("a/b")), ("metadata:a/*", .path("a/*", includingMetadata: true)),
        ("metadata", .path("metadata")),
    ])
    func `an interest is read from its text`(text: String, interest: WidgetInterest) {
        #expect(WidgetInterest(text: text) == interest)
    }

    @Test(arguments: ["defaults:", "defaults::", "defaults::k", "defaults:s:", "metadata:"])
    func `a text without a suite, key or pattern is not an interest`(text: String) {
        #expect(WidgetInterest(text: text) == nil)
    }

    @Test func `a widget without interests is interested in every item and every key`() {
        #expect(Concerns([]).items == .all)
        #expect(Concerns([]).keys(of: "any") == .all)
        #expect(Concerns([]).texts == ["everything"])
    }

    @Test func `a widget with interests in items only is interested in no key`() {
        #expect(Concerns([.path("a")]).keys(of: "any") == nil)
    }

    @Test func `a widget with interests in keys only is interested in no items`() {
        #expect(Concerns([.defaults("s", key: "k")]).items == .none)
    }

    @Test func `several interests in patterns and keys are united`() {
        let concerns = Concerns([
            .path("a"), .defaults("s", key: "k"), .defaults("t", key: "k"), .path("b/*"), .defaults("s", key: "l"),
        ])
        #expect(concerns.items == .matching(["a", "b/*"]))
        #expect(concerns.suites == ["s": .only(["k", "l"]), "t": .only(["k"])])
    }

    @Test(arguments: [
        [WidgetInterest.defaults("s"), .defaults("s", key: "k")], [.defaults("s", key: "k"), .defaults("s")],
    ])
    func `an interest in a suite includes each key of the suite`(interests: [WidgetInterest]) {
        #expect(Concerns(interests).suites == ["s": .all])
    }
}
