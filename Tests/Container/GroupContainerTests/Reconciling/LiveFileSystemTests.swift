import Testing

@testable import GroupContainer

/// The container's file system as the leader looks at it.
@Suite struct `Live file systems` {
    @Test func `a live file system does not use an open directory that another one has replaced`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/item")
        let member = sample.container.opened
        let tree = LiveFileSystem(member, try member.recordedTree(), term: .max, under: nil)
        let item = try ItemLocation(Array("directory/item".utf8))
        try tree.catchUp()
        #expect(try tree.state(at: item) != nil)
        try tester.remove("directory", recursively: true)
        _ = try tester.write(bytes: [2], to: "directory/item")
        // Still in the same round: the item on the disk is compared with the tree index as it is by now.
        try tree.catchUp()
        #expect(try tree.state(at: item) != nil)
        #expect(try tree.state(at: item)?.inode == tree.treeIndex[item]?.inode)
    }
}
