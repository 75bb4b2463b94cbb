import Testing

@testable import GroupContainer

/// What is done about a location, by what the journal has there and what was found on the disk.
@Suite struct `Comparing a location` {
    private typealias Step = LocationComparison.Step
    private typealias Preparation = LocationComparison.Preparation

    /// A file or a directory; nil: none.
    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var known: ItemState?
        var found: ItemState?
        var hasItemsBelow = false
        var isBeingWritten = false
        var recordsRemoval = true
        /// The steps, if no preparation appends a record.
        var steps: [LocationComparison.Step]
    }

    private static func state(_ type: ItemType, inode: UInt64 = 1, size: UInt64 = 10) -> ItemState {
        ItemState(
            type: type, inode: inode, size: size, modified: 1_000, changed: 1_000, mode: 0o644, owner: 1, group: 1,
            contentHash: nil)
    }

    private static let file = state(.file)
    private static let directory = state(.directory)

    private static let table = [
        Sample(testDescription: "nothing at all", steps: [.nothing]),
        Sample(testDescription: "an item as it was", known: file, found: file, steps: [.nothing]),
        Sample(
            testDescription: "a database in a transaction", known: file, found: file, isBeingWritten: true,
            steps: [.postpone]),
        Sample(
            testDescription: "an item that is missing, before all others were looked for", known: file,
            recordsRemoval: false, steps: [.leaveRemoval]),
        Sample(testDescription: "an item that is missing", known: file, steps: [.record(.removed)]),
        Sample(
            testDescription: "a directory that is missing, and has contents in the journal", known: directory,
            hasItemsBelow: true, steps: [.prepare(.contents), .postpone]),
        Sample(testDescription: "an empty directory that is missing", known: directory, steps: [.record(.removed)]),
        Sample(
            testDescription: "items below a directory that was not recorded, and is missing", hasItemsBelow: true,
            steps: [.prepare(.contents), .nothing]),
        Sample(
            testDescription: "items below a file", known: file, found: state(.file, size: 11), hasItemsBelow: true,
            steps: [.prepare(.contents), .record(.modified)]),
        Sample(
            testDescription: "a new item", found: file, steps: [.prepare(.directories), .record(.created)]),
        Sample(
            testDescription: "a new directory with items that were made in it under a lock", found: directory,
            hasItemsBelow: true, steps: [.prepare(.directories), .record(.created)]),
        Sample(
            testDescription: "another content", known: file, found: state(.file, size: 11), steps: [.record(.modified)]),
        Sample(
            testDescription: "another directory", known: directory, found: state(.directory, inode: 2),
            hasItemsBelow: true, steps: [.prepare(.replacedContents), .record(.touched)]),
        Sample(
            testDescription: "a file in place of a directory with contents", known: directory,
            found: state(.file, inode: 2),
            hasItemsBelow: true, steps: [.prepare(.replacedContents), .postpone]),
        Sample(
            testDescription: "a file in place of an empty directory", known: directory, found: state(.file, inode: 2),
            steps: [.prepare(.replacedContents), .record(.replaced)]),
        Sample(
            testDescription: "a directory in place of a file, with items that were made in it under a lock",
            known: file,
            found: state(.directory, inode: 2), hasItemsBelow: true, steps: [.prepare(.replacedItem)]),
        Sample(
            testDescription: "an empty directory in place of a file", known: file, found: state(.directory, inode: 2),
            steps: [.record(.replaced)]),
    ]

    @Test(arguments: table) func `each step follows from what is known and what was found`(sample: Sample) {
        let comparison = LocationComparison(
            hint: .comparison, known: sample.known, found: sample.found, hasItemsBelow: sample.hasItemsBelow,
            isBeingWritten: sample.isBeingWritten, recordsRemoval: sample.recordsRemoval)
        var steps: [Step] = []
        var done: Set<Preparation> = []
        while steps.count < sample.steps.count {
            let step = comparison.nextStep(after: done)
            steps.append(step)
            guard case .prepare(let preparation) = step else { break }
            done.insert(preparation)
        }
        #expect(steps == sample.steps)
    }
}
