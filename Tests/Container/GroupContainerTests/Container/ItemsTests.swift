import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Listing items` {
    @Test func `items are listed in byte order, without the container's own directory`() throws {
        let sample = try SampleContainer()
        try sample.temporary.put("12345", at: "b")
        try sample.temporary.put("", at: "a")
        try sample.temporary.run("mkdir", "directory", ".hidden")
        try sample.temporary.run("ln", "-s", "nowhere", "link")
        try sample.temporary.run("mkfifo", "fifo")
        let items = try sample.container.items()
        #expect(items.map(\.path) == [".hidden", "a", "b", "directory", "fifo", "link"])
        #expect(items.map(\.type) == [.directory, .file, .file, .directory, .other, .symbolicLink])
        #expect(items.first { $0.path == "b" }?.size == 5)
    }

    @Test func `items of a directory are named by their path from the root`() throws {
        let sample = try SampleContainer()
        try sample.temporary.run("mkdir", "directory")
        try sample.temporary.put("", at: "directory/x")
        try sample.temporary.run("ln", "-s", "directory", "link")
        #expect(try sample.container.items(in: "directory").map(\.path) == ["directory/x"])
        #expect(code { try sample.container.items(in: "missing") } == .notFound)
        #expect(code { try sample.container.items(in: "directory/x") } == .wrongType)
        #expect(code { try sample.container.items(in: "link") } == .invalidArgument)
        #expect(code { try sample.container.items(in: "../x") } == .outsideContainer)
        #expect(code { try sample.container.items(in: ".group") } == .outsideContainer)
    }
}
