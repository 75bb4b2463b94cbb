import TestSupport
import Testing

/// Every operation, and every fault that each of its system calls may meet.
// case 2, 6, 7
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 60 : 5)))
struct `Whatever fails, whenever a process is killed` {
    private static let joining = Result { try FaultMatrix.joining() }

    @Test(arguments: FaultedOperation.all)
    func `an operation is done or not, says so, and leaves a container in which everybody can go on`(
        operation: FaultedOperation
    ) throws {
        let matrix = try FaultMatrix(operation, joining: operation.isJoining ? [] : Self.joining.get())
        #expect(matrix.unknown.isEmpty, "PossibleErrors does not say what these may answer")
        let count = runsLongTests ? try matrix.tryAll() : try matrix.trySome(seed: faultSeed)
        print("faults: \(operation.testDescription): \(count) tried")
    }
}
