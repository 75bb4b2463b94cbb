import GroupContainer
import SystemCalls

/// What an uncontended lease costs beside a bare lock and unlock of one byte of the same file, all in turn in one run.
func measureLeaseCost(of folder: String, rounds: Int) throws {
    let container = try Container(path: folder, creating: true)
    let file = try FileDescriptor.open(path: Array("\(folder)/.group/lock".utf8), .readingAndWriting)
    let byte = ByteRange(start: 1 << 40, length: 1)
    let paths: [ItemPath] = ["a", "a/b/c", "a/b/c/d/e/f/g/h"]
    var kinds: [(name: String, run: (Int) throws -> Void)] = [
        (
            "bare OFD lock and unlock",
            { count in
                for _ in 0..<count {
                    _ = try file.tryLock(.exclusive, byte)
                    _ = try file.tryLock(.none, byte)
                }
            }
        )
    ]
    for path in paths {
        for isWriting in [true, false] {
            let lease = try BareLease(path, isWriting: isWriting, in: container)
            let depth = path.bytes.count { $0 == UInt8(ascii: "/") } + 1
            kinds.append(("\(isWriting ? "write" : "read") lease, depth \(depth)", lease.cycle))
        }
    }
    let batch = 200
    var samples = [[Int64]](repeating: [], count: kinds.count)
    for _ in 0..<rounds {
        for (index, kind) in kinds.enumerated() {
            let start = monotonicNanoseconds()
            try kind.run(batch)
            samples[index].append((monotonicNanoseconds() - start) / Int64(batch))
        }
    }
    let floor = median(samples[0])
    print("| | median ns | p99 ns | ratio |\n|---|---|---|---|")
    for (kind, sample) in zip(kinds, samples) {
        let (middle, late) = (median(sample), percentile(sample, 99))
        print("| \(kind.name) | \(middle) | \(late) | \(hundredths(Double(middle) / Double(floor))) |")
    }
}

/// Prints nanoseconds of one uncontended lease and its end, as the mean of a batch of so many: a line a batch.
func printLeaseCost(of folder: String, _ path: ItemPath, isWriting: Bool, batch: Int, batches: Int) throws {
    let lease = try BareLease(path, isWriting: isWriting, in: Container(path: folder))
    try lease.cycle(batch)
    for _ in 0..<batches {
        let start = monotonicNanoseconds()
        try lease.cycle(batch)
        print((monotonicNanoseconds() - start) / Int64(batch))
    }
}

func percentile(_ sample: [Int64], _ percent: Int) -> Int64 {
    let sorted = sample.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
}

func median(_ sample: [Int64]) -> Int64 { percentile(sample, 50) }

func hundredths(_ number: Double) -> String {
    let rounded = (number * 100).rounded()
    guard rounded.isFinite, abs(rounded) < 1e15 else { return "–" }
    let value = Int(rounded)
    return "\(value / 100).\(value % 100 < 10 ? "0" : "")\(value % 100)"
}
