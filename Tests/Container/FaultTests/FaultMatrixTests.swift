import TestSupport
import Testing

/// Every operation, with every fault that each of its system calls may meet.
// fault: writer-killed, disk-full, short-write
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 60 : 5)))
struct `Fault matrix` {
    private static let joining = Result { try FaultMatrix.joining() }

    @Test(arguments: FaultedOperation.all)
    func `an operation with a fault is done or not, reports it, and leaves a usable container`(
        operation: FaultedOperation
    ) throws {
        let matrix = try FaultMatrix(operation, joining: operation.isJoining ? [] : Self.joining.get())
        #expect(matrix.unknown.isEmpty, "PossibleErrors does not say what these may answer")
        let count = runsLongTests ? try matrix.tryAll() : try matrix.trySome(seed: faultSeed)
        print("faults: \(operation.testDescription): \(count) tried")
    }
}
