import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// The measure is what the kernel gives an item that is made in its directory.
@Suite(.timeLimit(.minutes(1)))
struct `Attributes of new items` {
    struct Surroundings: Sendable, CustomTestStringConvertible {
        var place: String
        var mode = "750"
        var list: AccessControlList?

        var testDescription: String {
            "\(place) \(mode) \(list.map { "\($0.entries.map(\.tag))" } ?? "without a list")"
        }
    }

    private static let lists: [AccessControlList?] = [
        nil, sampleList,
        AccessControlList([
            AccessControlList.Entry(tag: .owner, permissions: 7),
            AccessControlList.Entry(tag: .owningGroup, permissions: 7),
            AccessControlList.Entry(tag: .others, permissions: 7),
        ]),
    ]

    static let surroundings = attributeSurroundings.flatMap { place in
        ["750", "2770"].flatMap { mode in lists.map { Surroundings(place: place, mode: mode, list: $0) } }
    }

    /// Makes a container with a directory `home`; returns nil if the file system has no access control lists.
    private func sample(_ surroundings: Surroundings) throws -> SampleContainer? {
        let sample = try SampleContainer(in: surroundings.place)
        try sample.temporary.run("mkdir", "home")
        if effectiveUser() == 0 { try sample.temporary.run("chgrp", "60", "home") }
        try sample.temporary.run("chmod", surroundings.mode, "home")
        if let list = surroundings.list {
            guard try sample.temporary.setAttribute(defaultListName, to: list.encoded(), of: "home") else { return nil }
        }
        return sample
    }

    @Test(arguments: surroundings)
    func `a new item has the attributes that it would have if it had been made in its directory`(
        surroundings: Surroundings
    ) throws {
        guard let sample = try sample(surroundings) else { return }
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "home/file")
        _ = try tester.write(bytes: [1], to: "home/directory/directory/file")
        try sample.temporary.run("touch", "home/file-model")
        try sample.temporary.run("mkdir", "-p", "home/directory-model/directory")
        try sample.temporary.run("touch", "home/directory-model/directory/file")

        for (name, model) in [
            ("file", "file-model"), ("directory", "directory-model"),
            ("directory/directory", "directory-model/directory"),
            ("directory/directory/file", "directory-model/directory/file"),
        ] {
            let made = try Attributes("home/\(name)", in: sample.temporary)
            #expect(try made == Attributes("home/\(model)", in: sample.temporary), "\(name)")
        }
        if surroundings.list == sampleList {
            let directory = try Attributes("home/directory", in: sample.temporary)
            #expect(directory.extended[defaultListName] == sampleList.encoded())
            #expect(directory.extended[accessListName] != nil)
        }
    }

    @Test(arguments: surroundings)
    func `a new item that is written with a mode has that mode`(surroundings: Surroundings) throws {
        guard let sample = try sample(surroundings) else { return }
        _ = try sample.coordinator().blocking.write(bytes: [1], to: "home/file", mode: 0o604)
        #expect(try sample.temporary.status(of: "home/file").permissions == 0o604)
    }

    @Test(.enabled(if: effectiveUser() == 0), arguments: attributeSurroundings)
    func `a new item of a shared container belongs to the group of its setgid directory`(place: String) throws {
        let temporary = try TemporaryDirectory(in: place)
        let container = try Container(path: temporary.path, creating: true, unixGroup: "games")
        try temporary.run("mkdir", "home")
        try temporary.run("chgrp", "65534", "home")
        try temporary.run("chmod", "2770", "home")
        _ = try container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "home/directory/file")
        let file = try temporary.status(of: "home/directory/file")
        #expect(file.group == 65_534 && file.permissions == 0o660)
        let directory = try temporary.status(of: "home/directory")
        #expect(directory.group == 65_534 && directory.permissions == 0o2770)
    }
}
