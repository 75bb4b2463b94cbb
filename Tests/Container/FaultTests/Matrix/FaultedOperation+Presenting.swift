import GroupContainer
import TestSupport

/// Both sides of a question to a presenter, which a process without faults takes part in.
extension FaultedOperation {
    private static func presented(_ name: String, _ words: String..., input: String = "") -> Self {
        FaultedOperation(
            testDescription: name, words: words, input: input, prepare: { try $0.make(["item": "old\n"]) })
    }

    static let presenting: [FaultedOperation] = [
        {
            var present = presented("present, and answer another process", "test-member", "present-once", "@", "item")
            present.companion = { try $0.member("write-presented", "item", "new\n") }
            return present
        }(),
        {
            var write = presented(
                "write what another process presents", "groupctl", "write", "@", "item", input: "new\n")
            write.companion = { container in
                let presenter = try container.member("present", "item")
                try presenter.waitForText("presenting\n")
                for _ in 0..<8 { try presenter.send("ok") }
                return presenter
            }
            return write
        }(),
    ]
}
