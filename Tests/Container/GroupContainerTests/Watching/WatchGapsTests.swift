import GroupSystemCalls
import Testing

@testable import GroupContainer

@Suite struct `Watch gaps` {
    private func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    private func news(_ gaps: inout WatchGaps) -> [WatchGaps.News] {
        var all: [WatchGaps.News] = []
        while let next = gaps.take() { all.append(next) }
        return all
    }

    @Test func `each watch gap is reported with its reason, and a limit once`() throws {
        let (a, b, c) = (try location("a"), try location("b"), try location("c"))
        var gaps = WatchGaps()
        gaps.note(a, .unreadable)
        gaps.note(a, .unreadable)
        gaps.note(b, .noWatchLeft)
        gaps.note(c, .noWatchLeft)
        let reported = news(&gaps)
        #expect(reported == [.gap(a, .unreadable), .gap(b, .noWatchLeft)])
        #expect(gaps.needsComparing)
    }

    @Test func `the end of the last watch gap is reported once`() throws {
        let (a, b) = (try location("a"), try location("b"))
        var gaps = WatchGaps()
        gaps.note(nil, .noWatchLeft)
        gaps.note(a, .unreadable)
        _ = news(&gaps)
        gaps.close(b)
        gaps.close(a)
        let before = news(&gaps)
        #expect(before == [] && gaps.needsComparing)
        gaps.close(nil)
        let after = news(&gaps)
        #expect(after == [.complete] && !gaps.needsComparing)
        // From then on a limit is reported again.
        gaps.note(b, .noWatchLeft)
        let again = news(&gaps)
        #expect(again == [.gap(b, .noWatchLeft)])
    }

    @Test func `without a queue there is a gap until there is one`() throws {
        let a = try location("a")
        var gaps = WatchGaps()
        gaps.noteNoQueue(.noInstanceLeft)
        gaps.note(a, .failed(.inputOutput))
        gaps.close(a)
        #expect(news(&gaps) == [.gap(nil, .noInstanceLeft), .gap(a, .failed(.inputOutput))] && gaps.needsComparing)
        gaps.noteQueue()
        #expect(news(&gaps) == [.complete] && !gaps.needsComparing)
    }

    @Test func `a directory at two places is a gap until it is at one`() throws {
        let (a, b) = (try location("a"), try location("b"))
        var gaps = WatchGaps()
        gaps.noteOtherLocation(.directory(a), of: b)
        // It is listed again and again meanwhile.
        gaps.close(b)
        gaps.noteOtherLocation(.directory(a), of: b)
        #expect(news(&gaps) == [.gap(b, .sameAs(.directory(a)))] && gaps.needsComparing && gaps.concerns(b))
        gaps.noteOtherLocation(nil, of: b)
        #expect(news(&gaps) == [.complete] && !gaps.needsComparing)
    }

    @Test(arguments: [
        (Errno.accessDenied, WatchGaps.Reason.unreadable), (.noSpace, .noWatchLeft),
        (.inputOutput, .failed(.inputOutput)),
        (.tooManyFilesInSystem, .noDescriptorLeft), (.tooManyFiles, .noDescriptorLeft),
    ])
    func `an error of a directory is a gap of its kind`(error: Errno, reason: WatchGaps.Reason) {
        #expect(WatchGaps.Reason(error) == reason)
        // A descriptor is left here, so it is an instance that there is none of.
        if error == .tooManyFiles { #expect(WatchGaps.Reason(ofQueue: error) == .noInstanceLeft) }
    }

    @Test func `a watch gap of an unreadable directory needs no comparing`() throws {
        var gaps = WatchGaps()
        gaps.note(try location("a"), .unreadable)
        #expect(!gaps.needsComparing)
    }
}

@Suite struct `Rename pairs` {
    @Test func `the halves of a rename are paired where the directory around them was moved to`() throws {
        let places = try ["d/a", "x", "d", "e/d", "e/d/a"].map { try ItemLocation(Array($0.utf8)) }
        var pairs = RenamePairs()
        pairs.left(places[0], nil, cookie: 1)
        pairs.left(places[1], nil, cookie: 2)
        pairs.noteMove(from: places[2], to: places[3])
        #expect(pairs.arrived(cookie: 1)?.origin == places[4])
        #expect(pairs.arrived(cookie: 1) == nil)
        #expect(pairs.arrived(cookie: 2)?.origin == places[1])
    }
}

@Suite struct `Mounts` {
    @Test func `the mounts in a directory are read from the table, with escaped names`() throws {
        let table = """
            22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            40 22 0:35 / /c/m rw - tmpfs none rw
            41 22 0:36 /sub /c/a\\040b/\\134x rw shared:3 - tmpfs none rw
            42 22 0:37 / /cd rw - tmpfs none rw
            43 22 0:38 / /c rw - tmpfs none rw
            nonsense
            x 1 2
            44 22 0:39 / /c/.group/x rw - tmpfs none rw
            45 22 0:40 / /c/f rw shared:4 master:5 - fuse.sshfs host: rw
            """
        let mounts = Mount.inside(Array("/c".utf8), Array(table.utf8))
        let places = Set(mounts.map { String(decoding: $0.location.bytes, as: UTF8.self) })
        #expect(places == ["m", "a b/\\x", "f"])
        #expect(mounts.filter(\.isServed).map { String(decoding: $0.location.bytes, as: UTF8.self) } == ["f"])
        #expect(Mount.inside(Array("/".utf8), Array(table.utf8)).count == 5)
    }
}

@Suite struct `Tree comparisons` {
    private func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    private func listing(_ names: [String]) -> DirectoryListing {
        let state = ItemState(
            type: .directory, inode: 1, size: 0, modified: 0, changed: 0, mode: 0, owner: 0, group: 0, contentHash: nil)
        return DirectoryListing(watch: nil, inode: 0, entries: names.map { (Array($0.utf8), state) })
    }

    @Test func `a comparison that is to begin anew ends first, and repeats everything once`() throws {
        var comparison = TreeComparison()
        comparison.addEverything()
        comparison.addEverything()
        var listed: [String] = []
        for turn in 0..<20 {
            // Another request each turn, as after events are lost again and again, but for the last turns.
            if turn > 0 && turn < 8 { comparison.addEverything() }
            guard let directory = comparison.next() else {
                _ = comparison.takeGone()
                continue
            }
            listed.append(directory.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ".")
            _ = comparison.take(listing(directory == nil ? ["a", "b", "c"] : []), of: directory, TreeIndex()) { _, _ in
                false
            }
            _ = comparison.takeGone()
        }
        #expect(comparison.isOver)
        #expect(listed == [".", "c", "b", "a", ".", "c", "b", "a", ".", "c", "b", "a"], "\(listed)")
    }

    @Test func `each of many nested directories is listed twice at most while they are recorded`() throws {
        var comparison = TreeComparison()
        comparison.addEverything()
        let depth = 200
        var watched: Set<ItemLocation> = []
        var unrecorded: [ItemLocation] = []
        var listed = 0
        while listed < depth * depth, let directory = comparison.next() {
            listed += 1
            let isLast = directory?.bytes.count == 2 * depth - 1
            if let directory, watched.insert(directory).inserted { unrecorded.append(directory) }
            _ = comparison.take(listing(isLast ? [] : ["d"]), of: directory, TreeIndex()) { place, _ in
                watched.contains(place)
            }
            if listed.isMultiple(of: 16) || comparison.isOver {
                for directory in unrecorded { comparison.addCreated(directory) }
                unrecorded = []
            }
        }
        #expect(watched.count == depth)
        #expect(listed <= 2 * depth + 1, "\(listed)")
    }
}
