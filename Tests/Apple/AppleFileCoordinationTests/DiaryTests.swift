import AppleFileCoordination
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The example that names Apple's symbols only.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The diary` {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func diary(_ words: String..., input: String? = "") throws -> RunningProcess {
        try RunningProcess(
            ["diary"] + words, input: input,
            environment: ["GROUP_CONTAINERS_HOME": directory.path + "/home", "HOME": directory.path])
    }

    private var container: String { directory.path + "/home/group.com.example.diary" }

    @Test func `what is typed and not saved is read by another process`() throws {
        let writer = try diary("write", input: nil)
        // The document presents itself once the container is there and has its entry.
        let presented = container + "/.group/presenters"
        try wait { FileManager.default.fileExists(atPath: presented) }
        try writer.send("Dear diary")
        try wait { try diary("show").finish().text == "Dear diary\n" }
        // Somebody else writes it: the document takes that over.
        #expect(
            try RunningProcess(["groupctl", "write", container, "Library/diary.txt"], input: "Another hand").finish()
                .status == 0)
        try writer.send("And mine")
        writer.closeInput()
        #expect(try writer.finish().status == 0)
        #expect(try diary("show").finish().text == "Another hand\nAnd mine\n")
        let change = try #require(
            try RunningProcess(["watch-group", "--since", "start", "--timeout", "0", "--json", container]).finish().text
                .split(separator: "\n").last { $0.contains("diary.txt") })
        #expect(change.contains("\"diary\""), "\(change)")
    }

    @Test func `settings are shared, and cleared`() throws {
        #expect(try diary("author").finish().text == "no author\n")
        #expect(try diary("author", "Ada").finish().status == 0)
        #expect(try diary("author").finish().text == "Ada\n")
        #expect(try diary("author", "").finish().status == 0)
        #expect(try diary("author").finish().text == "no author\n")
    }

    @Test func `an unknown word is a mistake of the call`() throws {
        #expect(try diary("burn").finish().status == 64)
    }

    private func wait(until isThere: () throws -> Bool) throws {
        if try !eventually(isThere) { throw WaitedInVain(description: "waited in vain for the diary") }
    }

    /// Each word of the example that is a symbol of our modules has to be in a table of Apple's symbols, and its
    /// modules are Apple's or ours.
    @Test func `it names no symbol outside of the tables`() throws {
        let root = projectDirectory
        let page = try String(contentsOf: root.appendingPathComponent("docs/guide/porting.md"), encoding: .utf8)
        let listed = Set(words(of: page))
        var symbols = Set<String>()
        for module in ["AppleFileCoordination", "NotificationCenter", "WidgetKit", "Widgets", "GroupContainer"] {
            symbols.formUnion(
                words(
                    of: try String(
                        contentsOf: root.appendingPathComponent("docs/reference/api/\(module).txt"), encoding: .utf8)))
        }
        for file in ["Diary.swift", "main.swift"] {
            let source = try String(
                contentsOf: root.appendingPathComponent("Sources/Examples/diary/\(file)"), encoding: .utf8)
            let code = source.split(separator: "\n").map { $0.split(separator: "//").first ?? "" }.joined(
                separator: "\n")
            for name in Set(words(of: code))
            where name.hasPrefix("NSFile") || name.hasPrefix("NC") || name.contains("resented") {
                #expect(listed.contains(name) || !symbols.contains(name), "\(name) in \(file) is in no table")
            }
            let modules = source.split(separator: "\n").compactMap { line -> String? in
                let parts = line.split(separator: " ")
                return parts.first == "import" ? parts.last.map(String.init) : nil
            }
            #expect(Set(modules).isSubset(of: ["AppleFileCoordination", "NotificationCenter", "Foundation"]))
        }
    }

    private func words(of text: String) -> [String] {
        text.components(separatedBy: CharacterSet.alphanumerics.inverted).filter { !$0.isEmpty }
    }
}
