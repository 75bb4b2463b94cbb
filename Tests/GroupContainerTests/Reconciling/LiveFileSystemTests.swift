import Testing

@testable import GroupContainer

/// The container as its leader looks at it.
@Suite struct `A tree that somebody looks at` {
    @Test func `is not looked at in a directory that was open when another one took its place`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/item")
        let member = sample.container.member
        let tree = LiveFileSystem(member, try member.recordedTree(), term: .max, under: nil)
        let item = try ItemLocation(Array("directory/item".utf8))
        try tree.catchUp()
        #expect(try tree.found(item) != nil)
        try tester.remove("directory", recursively: true)
        _ = try tester.write(bytes: [2], to: "directory/item")
        // In the same round. What it has by now is what it compares with.
        try tree.catchUp()
        #expect(try tree.found(item) != nil)
        #expect(try tree.found(item)?.inode == tree.treeIndex[item]?.inode)
    }
}
