/// A fault at every system call of an operation, one run of it for each.
///
///     try EverySystemCall(of: model, input: "new", in: modelContainer).forEach { attempt in
///         let before = …
///         try attempt.run(write, input: "new")
///         #expect(… , "at \(attempt)")
///     }
package struct EverySystemCall {
    /// The calls that the operation makes by itself, from the first that concerns the container on.
    package let calls: [Strace.Call]
    private let fault: Strace.Fault

    /// Runs the operation once without a fault, to learn the names of its calls and where they begin to matter.
    package init(
        of model: [String], input: String = "", in container: TemporaryContainer, fault: Strace.Fault = .kill
    ) throws {
        calls = try Strace.calls(of: model, input: input, in: container)
        self.fault = fault
    }

    /// One run of the operation, with its fault.
    package final class Attempt: CustomStringConvertible {
        /// The number of the run, from 0.
        package let number: Int
        package let call: Strace.Call
        private let fault: Strace.Fault
        private var process: TracedProcess?

        fileprivate init(number: Int, call: Strace.Call, fault: Strace.Fault) {
            self.number = number
            self.call = call
            self.fault = fault
        }

        /// Starts the operation; its words and input may differ from the model's, its calls should not.
        package func start(_ command: [String], input: String = "") throws -> TracedProcess {
            let process = try Strace.start(command, input: input, fault: fault, at: call)
            self.process = process
            return process
        }

        @discardableResult
        package func run(_ command: [String], input: String = "") throws -> (status: Int32, text: String) {
            try start(command, input: input).finish()
        }

        fileprivate var isReached: Bool { process?.isReached ?? false }

        package var description: String { "\(call) (\(fault))" }
    }

    /// Calls `body` for each call of each name: the first one that matters, the second, the third, …, until a run no
    /// longer reaches it. In the last run of each name no call fails; `body` must
    /// accept that.
    package func forEach(_ body: (Attempt) throws -> Void) throws {
        var names = Set<String>()
        var number = 0
        for first in calls where names.insert(first.name).inserted {
            var call = first
            while true {
                let attempt = Attempt(number: number, call: call, fault: fault)
                try body(attempt)
                number += 1
                guard attempt.isReached else { break }
                call.number += 1
            }
        }
    }

    /// Calls `body` only for some calls: all that surround a rename, one of each name, and eight more.
    package func forSome(seed: UInt64 = faultSeed, _ body: (Attempt) throws -> Void) throws {
        var numbers = SeededGenerator(seed: seed)
        var chosen = Set(calls.indices.shuffled(using: &numbers).prefix(8))
        for name in Set(calls.map(\.name)).sorted() {
            let places = calls.indices.filter { calls[$0].name == name }
            if let place = places.randomElement(using: &numbers) { chosen.insert(place) }
        }
        for place in calls.indices where calls[place].name.hasPrefix("rename") {
            chosen.formUnion(max(0, place - 6)..<min(calls.count, place + 6))
        }
        for (number, place) in chosen.sorted().enumerated() {
            try body(Attempt(number: number, call: calls[place], fault: fault))
        }
    }

    /// Calls `body` for all calls in the long run, for some in the short one.
    package func forEachIfLong(_ body: (Attempt) throws -> Void) throws {
        if runsLongTests { try forEach(body) } else { try forSome(body) }
    }
}
