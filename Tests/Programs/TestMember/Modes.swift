import Glibc
import GroupCommandLine
import GroupContainer
import GroupSystemCalls
import RawRecords

/// Prints a line with one write(2), unless the system takes less: what was printed stays, whenever this process is
/// killed.
func printLine(_ line: String) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR {
            unsafe perror("cannot write 'standard output'")
            exit(74)
        }
        rest = rest.dropFirst(max(0, count))
    }
}

func append(to container: String, count: Int, tag: String) throws {
    let container = try Container(path: container)
    for number in stride(from: 1, through: count, by: 1) {
        _ = try container.appendRawRecord(naming: "\(tag)/\(number)")
        printLine("\(number)")
    }
}

/// Appends, for each line of standard input, as many records as the line says.
func appendOnDemand(to container: String, tag: String) throws {
    let container = try Container(path: container)
    var number = 0
    while let line = readLine() {
        for _ in 0..<(Int(line) ?? 0) {
            number += 1
            _ = try container.appendRawRecord(naming: "\(tag)/\(number)")
            printLine("\(number)")
        }
    }
}

func rotate(_ path: String, _ item: ItemPath, _ text: String) throws {
    let container = try Container(path: path)
    let long = ItemPath(String(repeating: "x", count: 4_000))
    for _ in 0..<20 { _ = try container.appendRawRecord(naming: long) }
    let coordinator = container.coordinator(purpose: "test-member").blocking
    if let generation = try coordinator.write(bytes: Array(text.utf8), to: item, durability: .relaxed).generation {
        printLine("\(generation)")
    }
}

func write(to container: String, _ path: ItemPath, count: Int) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    for number in stride(from: 1, through: count, by: 1) {
        let outcome = try coordinator.write(bytes: Array("\(getpid()) \(number)".utf8), to: path, durability: .relaxed)
        if let generation = outcome.generation { printLine("\(generation)") }
    }
}

func writeDurably(to container: String, _ path: ItemPath, count: Int) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    for number in stride(from: 1, through: count, by: 1) {
        do {
            let outcome = try coordinator.write(bytes: Array("\(number)\n".utf8), to: path, durability: .durable)
            if let generation = outcome.generation { printLine("\(generation)") }
        } catch let error as CoordinationError {
            printLine(error.code.rawValue)
        }
    }
}

func update(in container: String, _ path: ItemPath, _ text: String) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    let outcome = try coordinator.updateBytes(path) { old in (old ?? []) + Array(text.utf8) }
    if let generation = outcome.generation { printLine("\(generation)") }
}

func count(in container: String, _ path: ItemPath, count: Int) throws {
    let coordinator = try Container(path: container).coordinator(purpose: "test-member").blocking
    var done = 0
    while done < count {
        do {
            let read = try coordinator.readVersion(path, as: Int.self)
            let outcome = try coordinator.write(
                json: read.value + 1, to: path, durability: .relaxed, if: .generation(read.generation))
            if let generation = outcome.generation { printLine("\(generation)") }
            done += 1
        } catch let error as CoordinationError {
            if error.code == .notFound {
                do {
                    try coordinator.write(json: 0, to: path, durability: .relaxed, if: .absent)
                } catch let error as CoordinationError { if error.code != .conflict { throw error } }
            } else if error.code != .conflict {
                throw error
            }
        }
    }
}

func hold(_ path: String, _ item: ItemPath) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "holder").blocking
    try coordinator.coordinate(.writing(item)) { _ in
        printLine("held")
        while let order = nextLine() {
            if order == "close-lock" { try closeAnotherDescriptor(ofLockIn: path) }
            printLine("done \(order)")
        }
    }
    printLine("ended")
}

func share(_ path: String, _ item: ItemPath) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "sharer").blocking
    try coordinator.coordinate(.reading(item)) { _ in
        printLine("sharing")
        while nextLine() != nil {}
    }
}

func upload(_ path: String, _ item: ItemPath) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "uploader").blocking
    try coordinator.coordinate(.reading(item, .forUploading)) { _ in
        printLine("uploading")
        while nextLine() != nil {}
    }
}

func nest(_ path: String, _ outer: ItemPath, _ inner: ItemPath) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "nester").blocking
    try coordinator.coordinate(.writing(outer)) { _ in try writeOnDemand(inner, by: coordinator) }
    printLine("ended")
}

/// Does what `nest` does under a lock that it keeps between calls.
func keep(_ path: String, _ outer: ItemPath, _ inner: ItemPath) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "keeper").blocking
    let locks = try coordinator.lock(.writing(outer))
    try writeOnDemand(inner, by: coordinator)
    try locks.unlock()
    printLine("ended")
}

/// For each line of input writes an item, and prints how that ended and how long it took.
private func writeOnDemand(_ item: ItemPath, by coordinator: BlockingCoordinator) throws {
    printLine("held")
    while nextLine() != nil {
        let start = monotonicNanoseconds()
        var ending = "written"
        do {
            try coordinator.coordinate(.writing(item), durability: .relaxed) { access in
                _ = try access.write(bytes: Array("\(getpid())".utf8), to: item)
            }
        } catch let error as CoordinationError {
            ending = error.code.rawValue
        }
        printLine("\(ending) \((monotonicNanoseconds() - start) / 1_000_000)")
    }
}

/// Opens and closes the lock file. Locks that belong to the process (fcntl's old ones) would all end by this.
private func closeAnotherDescriptor(ofLockIn path: String) throws {
    _ = try FileDescriptor.open(path: Array("\(path)/.group/lock".utf8), .readingAndWriting)
}

// Swift keeps fork(2) from its programs; the tests check a program that calls it all the same, or through C.
@_silgen_name("fork") func forkWithoutExec() -> Int32

func forkAndHold(_ path: String, _ item: ItemPath, childStays: Bool) throws {
    let coordinator = try Container(path: path).coordinator(purpose: "forker").blocking
    try coordinator.coordinate(.writing(item)) { _ in
        printLine("held")
        let child = forkWithoutExec()
        if child == 0 {
            do {
                _ = try coordinator.write(bytes: [0x78], to: item, durability: .relaxed, timeout: .zero)
                printLine("child wrote")
            } catch {
                printLine("child \((error as? CoordinationError)?.code.rawValue ?? "other")")
            }
            if childStays { while nextLine() != nil {} }
            _exit(0)
        }
        if !childStays {
            var status: Int32 = 0
            _ = unsafe waitpid(child, &status, 0)
            printLine("child ended")
        }
        while nextLine() != nil {}
    }
}

/// Reads a line, byte by byte; nil at the end of the input. (Swift's `readLine` never returns after a call that a
/// signal interrupted: it repeats getline(3), which goes on failing.)
func nextLine() -> String? {
    var line: [UInt8] = []
    while true {
        var byte: UInt8 = 0
        switch unsafe read(0, &byte, 1) {
        case 1 where byte == UInt8(ascii: "\n"): return String(decoding: line, as: UTF8.self)
        case 1: line.append(byte)
        case -1 where errno == EINTR: continue
        default: return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }
    }
}

/// The signal goes to a thread that does not wait for the input, so that it interrupts no system call of this one.
func awaitInputOrSignal() throws {
    let signals = TerminationSignals()
    var thread = pthread_t()
    _ = unsafe pthread_create(
        &thread, nil,
        { _ in
            let name = Array("/proc/self/task/\(getpid())/stat".utf8)
            for _ in 0..<100_000 {
                let line = (try? FileDescriptor.open(path: name, .reading).readAll()) ?? []
                // The first thread sleeps, which is in poll(2) or in read(2).
                if String(decoding: line, as: UTF8.self).contains(") S ") { break }
            }
            raise(SIGTERM)
            return nil
        }, nil)
    var lines = InputLines(limit: 100)
    try lines.wait(orUntil: signals)
    printLine("signal \(signals.received ?? 0)")
}
