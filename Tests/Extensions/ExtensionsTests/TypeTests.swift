import Extensions
import Testing

@Suite struct `Types and points of extensions` {
    @Test(arguments: [
        "url", "text", "property-list", "image/png", "application/vnd.api+json", "x-content/a", "a/b.c-d_e",
    ])
    func `a type is read`(text: String) throws {
        #expect(ContentType(text)?.rawValue == text)
        #expect(ContentType(text.uppercased())?.rawValue == text)
    }

    @Test(
        arguments: [
            "", "/", "a/", "/a", "a", "image", "image/*", "*/*", "a/b/c", "a /b", "text/plain; charset=utf-8", "a/é",
            "-a/b", String(repeating: "a", count: 128) + "/b", "urls", "a/b\n",
        ])
    func `a text that is no type is refused`(text: String) { #expect(ContentType(text) == nil) }

    @Test(arguments: [
        "share", "edit-photo", "provide-files", "keyboard", "page-script", "widget", "action", "com.example.point",
        "a.b", "com.example-2.3d",
    ])
    func `a point is read`(name: String) { #expect(ExtensionPoint(rawValue: name)?.rawValue == name) }

    @Test(arguments: [
        "", "sharing", "Share", ".a", "a.", "a..b", "a.-b", "a.b-", "1a.b", "a.b c", "a/b.c", "a.é",
        String(repeating: "a.", count: 127) + "b",
    ])
    func `a text that is no point is refused`(name: String) { #expect(ExtensionPoint(rawValue: name) == nil) }
}
