import Extensions
import Testing

@testable import ExtensionHosting

@Suite struct `An activation rule` {
    private static func rule(_ entries: (String, Int)...) throws -> ActivationRule {
        ActivationRule(
            try entries.map { ActivationRule.Entry(try #require(ActivationRule.Pattern($0.0)), maximum: $0.1) })
    }

    private static func types(_ texts: String...) throws -> [ContentType] {
        try texts.map { try #require(ContentType($0)) }
    }

    @Test(arguments: [
        (10, 1, nil), (9, 0, nil), (0, 1, nil), (11, 0, "it takes at most 10 of 'image/*', and these are 11"),
        (10, 2, "it takes at most 1 of 'video/*', and these are 2"), (0, 0, "there is nothing to take"),
    ])
    func `a rule for ten pictures and a video refuses one more, and none`(
        images: Int, videos: Int, refusal: String?
    ) throws {
        let rule = try Self.rule(("image/*", 10), ("video/*", 1))
        let image = try Self.types("image/png", "image/jpeg")
        let input =
            (0..<images).map { image[$0 % 2] } + (try (0..<videos).flatMap { _ in try Self.types("video/mp4") })
        #expect(rule.refusal(of: input)?.description == refusal)
    }

    @Test func `an attachment that matches no entry refuses the input`() throws {
        let rule = try Self.rule(("image/*", 10), ("text", 1))
        #expect(
            rule.refusal(of: try Self.types("image/png", "video/mp4"))?.description == "it does not take 'video/mp4'")
        #expect(rule.refusal(of: try Self.types("url"))?.description == "it does not take 'url'")
        #expect(rule.refusal(of: try Self.types("text/html"))?.description == "it does not take 'text/html'")
        #expect(rule.refusal(of: try Self.types("text", "image/png")) == nil)
    }

    @Test func `an attachment counts once, for the most specific entry`() throws {
        let rule = try Self.rule(("*/*", 1), ("image/*", 1), ("image/png", 1), ("text", 1), ("text/*", 1))
        #expect(
            rule.refusal(of: try Self.types("image/png", "image/gif", "audio/ogg", "text/plain", "text/css")) == nil)
        #expect(
            rule.refusal(of: try Self.types("image/png", "image/png")) != nil, "no other entry takes the second one")
        #expect(rule.refusal(of: try Self.types("text", "text/plain")) != nil, "'text' is for both")
        let plain = try Self.rule(("text", 1), ("text/plain", 1))
        #expect(plain.refusal(of: try Self.types("text", "text/plain")) == nil)
        #expect(try Self.rule(("*/*", 9)).refusal(of: try Self.types("url")) != nil, "a URL has no MIME type")
    }

    @Test(arguments: ["", "*", "*/png", "image", "image/", "/*", "a b/*", "image/*/*", "text/plain; charset=utf-8"])
    func `a text that is no pattern is refused`(text: String) { #expect(ActivationRule.Pattern(text) == nil) }

    @Test func `an order has the named extensions first, then the others by title`() {
        let order = ExtensionOrder("# mine\n\n  b \na\r\nb\n")
        let names = [("A", "x"), ("Z", "a"), ("B", "w"), ("Y", "b"), ("A", "c")]
        let sorted = names.sorted { order.isBefore(($0.0, $0.1), ($1.0, $1.1)) }
        #expect(sorted.map(\.1) == ["b", "a", "c", "x", "w"])
    }
}
