import Foundation
import TestSupport
import Testing
@testable import GroupLocking

/// The corpora of `tools/fuzz`: samples that the real encoders make, and inputs that once found a fault.
@Suite(.ownThreads) struct `A decoder` {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpora")

    private static func corpus(_ decoder: Decoder) throws -> [(name: String, content: [UInt8])] {
        let directory = corpora.appending(path: decoder.name)
        return try FileManager.default.contentsOfDirectory(atPath: directory.path()).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: directory.appending(path: name))))
        }
    }

    @Test(arguments: Decoder.all.map(\.name))
    func `a decoder holds its properties on its corpus`(name: String) throws {
        let decoder = try #require(Decoder.all.first { $0.name == name })
        let corpus = try Self.corpus(decoder)
        #expect(!corpus.isEmpty)
        for (file, content) in corpus {
            do {
                let isSomething = try decoder.check(content)
                #expect(isSomething || !file.hasPrefix("sample-"), "\(name)/\(file) is not a value")
            } catch {
                Issue.record("\(name)/\(file): \(error)")
            }
        }
    }

    /// Some hundred changes of each sample, which take a moment. `tools/fuzz` tries more.
    @Test(arguments: Decoder.all.map(\.name))
    func `a decoder holds its properties on changed samples`(name: String) throws {
        let decoder = try #require(Decoder.all.first { $0.name == name })
        var random = SeededGenerator(seed: faultSeed)
        for (_, sample) in decoder.samples.sorted(by: { $0.key < $1.key }) {
            for _ in 0..<100 {
                let bytes = mutated(sample, using: &random)
                do { _ = try decoder.check(bytes) } catch { Issue.record("\(name), \(bytes): \(error)") }
            }
        }
    }

    /// A failure means that the format has changed: `tools/fuzz --samples` writes the samples anew.
    @Test(arguments: Decoder.all.map(\.name))
    func `a decoder's samples in its corpus are what the encoders write`(name: String) throws {
        let decoder = try #require(Decoder.all.first { $0.name == name })
        let kept = try Self.corpus(decoder).filter { $0.name.hasPrefix("sample-") }
        #expect(kept.map(\.name) == decoder.samples.keys.map { "sample-\($0)" }.sorted())
        for (file, content) in kept {
            #expect(decoder.samples[String(file.dropFirst("sample-".count))] == content, "\(name)/\(file)")
        }
    }
}
