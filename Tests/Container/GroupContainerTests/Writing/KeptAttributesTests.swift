import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

// fault: attributes
@Suite(.timeLimit(.minutes(1)), .tags(.root))
struct `Attributes of replaced files` {
    private let isRoot = effectiveUser() == 0

    /// Replaces `file`, and returns its attributes before and after.
    private func replace(
        _ sample: SampleContainer, mode: UInt32? = nil, at path: ItemPath = "file"
    ) throws -> (old: Attributes, new: Attributes) {
        let old = try Attributes("file", in: sample.temporary)
        let inode = try sample.temporary.status(of: "file").inode
        let tester = sample.coordinator().blocking
        try tester.run(ItemCall(operation: "write", intents: [.writing(path)]), .durable, patience) { access in
            _ = try access.write(bytes: Array("new content".utf8), to: path, mode: mode)
        }
        #expect(try sample.temporary.status(of: "file").inode != inode)
        #expect(try sample.temporary.content(of: "file") == "new content")
        #expect(try sample.temporary.staged().isEmpty)
        return (old, try Attributes("file", in: sample.temporary))
    }

    @Test(arguments: attributeSurroundings, [1, 100])
    func `a replaced file keeps its extended attributes`(place: String, count: Int) throws {
        let sample = try SampleContainer(in: place)
        // The owner may set attributes only of a file that it may write to.
        try sample.temporary.put("old", at: "file", mode: 0o640)
        // On ext4 all attributes of a file share one block of 4 KiB.
        let length = count == 1 ? (place == TestFiles.disk ? 3_500 : 4_096) : 10
        for number in 0..<count {
            let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
            let name = Array("user.\(number)".utf8)
            guard try sample.temporary.setAttribute(name, to: value, of: "file") else { return }
        }
        let (old, new) = try replace(sample)
        #expect(old.extended.count >= count)
        #expect(new == old)
    }

    @Test(arguments: attributeSurroundings) func `a replaced file keeps its access control list`(place: String) throws {
        let sample = try SampleContainer(in: place)
        try sample.temporary.put("old", at: "file")
        let list = sampleList.limited(to: 0o640)
        guard try sample.temporary.setAttribute(accessListName, to: list.encoded(), of: "file") else { return }
        let (old, new) = try replace(sample)
        #expect(new == old)
        #expect(new.mode & 0o7777 == 0o640 && new.extended[accessListName] == list.encoded())
    }

    @Test(arguments: attributeSurroundings)
    func `a replaced file keeps mode, owner, attributes and list together, and setuid`(place: String) throws {
        let sample = try SampleContainer(in: place)
        try sample.temporary.put("old", at: "file")
        if isRoot { try sample.temporary.run("chown", "65534:60", "file") }
        guard try sample.temporary.setAttribute(accessListName, to: sampleList.encoded(), of: "file"),
            try sample.temporary.setAttribute(Array("user.a".utf8), to: [1], of: "file")
        else { return }
        if isRoot {
            _ = try sample.temporary.setAttribute(Array("trusted.a".utf8), to: [2], of: "file")
            _ = try sample.temporary.setAttribute(Array("security.a".utf8), to: [3], of: "file")
        }
        try sample.temporary.run("chmod", "6750", "file")
        let (old, new) = try replace(sample)
        #expect(new == old)
        #expect(new.mode & 0o7777 == 0o6750)
    }

    @Test(arguments: attributeSurroundings) func `a replaced file with a given mode gets it through its list's mask`(
        place: String
    )
        throws
    {
        let sample = try SampleContainer(in: place)
        try sample.temporary.put("old", at: "file")
        guard try sample.temporary.setAttribute(accessListName, to: sampleList.encoded(), of: "file") else { return }
        let (_, new) = try replace(sample, mode: 0o640)
        #expect(new.mode & 0o7777 == 0o640)
        #expect(new.extended[accessListName] == sampleList.limited(to: 0o640).encoded())
    }

    @Test func `a replaced file does not keep a signature of its old content`() throws {
        let sample = try SampleContainer()
        try sample.temporary.put("old", at: "file")
        let name = Array("security.ima".utf8)
        // Only root may set a signature, and a kernel that checks it sets its own.
        guard (try? sample.temporary.setAttribute(name, to: [4, 4], of: "file")) == true else { return }
        #expect(try replace(sample).new.extended[name] != [4, 4])
    }

    @Test(arguments: attributeSurroundings) func `a replaced file does not get the default list of staging`(
        place: String
    )
        throws
    {
        let sample = try SampleContainer(in: place)
        try sample.temporary.put("old", at: "file", mode: 0o640)
        guard try sample.temporary.setAttribute(defaultListName, to: sampleList.encoded(), of: ".group/staging") else {
            return
        }
        let (old, new) = try replace(sample)
        #expect(new == old)
        _ = try sample.coordinator().blocking.write(bytes: [1], to: "directory/new")
        #expect(try Attributes("directory/new", in: sample.temporary).extended.isEmpty)
        #expect(try Attributes("directory", in: sample.temporary).extended.isEmpty)
        #expect(try sample.temporary.status(of: "directory").permissions == 0o700)
    }

    @Test func `replacing a file through a symbolic link replaces the target, and the link stays`() throws {
        let sample = try SampleContainer()
        try sample.temporary.put("old", at: "file", mode: 0o640)
        try sample.temporary.run("ln", "-s", "file", "link")
        let (old, new) = try replace(sample, at: "link")
        #expect(new == old)
        #expect(try sample.temporary.status(of: "link").isLink)
    }

    // fault: hard-links
    @Test func `replacing a file leaves its other hard link as it was`() throws {
        let sample = try SampleContainer()
        try sample.temporary.put("old", at: "file", mode: 0o640)
        guard try sample.temporary.setAttribute(Array("user.a".utf8), to: [1], of: "file") else { return }
        try sample.temporary.run("ln", "file", "other")
        let inode = try sample.temporary.status(of: "other").inode
        let (old, new) = try replace(sample, mode: 0o600)
        #expect(new.mode & 0o7777 == 0o600 && new.extended == old.extended)
        #expect(try Attributes("other", in: sample.temporary) == old)
        #expect(try sample.temporary.content(of: "other") == "old")
        let other = try sample.temporary.status(of: "other")
        #expect(other.inode == inode && other.links == 1)
    }
}
