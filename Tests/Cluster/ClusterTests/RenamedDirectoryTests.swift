#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// A directory that is renamed more quickly than the journal has its renames, while another machine writes into it.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Directories that are renamed` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    @Test(arguments: [0, 2, 10] as [Int64])
    func `a directory stays one, with all of its files, while others write there`(pause milliseconds: Int64) throws {
        for number in 0..<10 { try a.write("\(number)", to: "d/first/\(number)") }
        #expect(agree(a, b) { $0.count == 12 })
        let isOver = Guarded(false)
        let (b, directory) = (b.path, a.path)
        let written = Guarded<[String: String]>([:])
        let hasEnded = DispatchSemaphore(value: 0)
        let writer = Thread {
            defer { hasEnded.signal() }
            let manager = FileManager.default
            var number = 0
            while !isOver.withLock({ $0 }) {
                pause(nanoseconds: 3_000_000)
                let names = (try? manager.contentsOfDirectory(atPath: b)) ?? []
                guard let name = names.first(where: { $0.hasPrefix("d") }) else { continue }
                number += 1
                let text = "written \(number)"
                // The machine's own program renames the directory at the same time: then there is no such path.
                let file = unsafe open("\(b)/\(name)/w\(number)", O_WRONLY | O_CREAT | O_EXCL, 0o644)
                if file < 0 { continue }
                written.withLock { $0["w\(number)"] = text }
                _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
                close(file)
            }
        }
        writer.start()
        defer { isOver.withLock { $0 = true } }
        #expect(eventually { !written.withLock(\.isEmpty) })
        var name = "d"
        for number in 1...100 {
            let next = "d\(number)"
            try #require(unsafe rename("\(directory)/\(name)", "\(directory)/\(next)") == 0)
            name = next
            if milliseconds > 0 { pause(nanoseconds: milliseconds * 1_000_000) }
        }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        let files = written.withLock { $0 }
        #expect(
            agree(a, self.b) { tree in
                tree.count == 12 + files.count && tree["d100"] == "directory"
                    && (0..<10).allSatisfy { tree["d100/first/\($0)"]?.hasSuffix(" \($0)") == true }
                    && files.allSatisfy { tree["d100/\($0.key)"]?.hasSuffix($0.value) == true }
            })
        #expect(try a.recorded()?.withheld == nil)
        #expect(try a.conflicts() == [] && self.b.conflicts() == [])
    }
}
#endif
