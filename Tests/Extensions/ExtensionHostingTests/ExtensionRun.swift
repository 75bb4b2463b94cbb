import Extensions
import GroupContainer
import GroupSystemCalls
import TestSupport

@testable import ExtensionHosting

/// The extension of the tests.
enum TestExtension {
    static func manifest(_ word: String, group: String? = nil) -> ExtensionManifest {
        ExtensionManifest(
            point: .share, identifier: "com.example.test",
            executable: BuildDirectory.path + "/test-extension", arguments: [word], group: group)
    }

    /// Runs a request, and returns its result in a few words, and what was logged.
    static func run(
        _ word: String, _ items: [ExtensionItem] = [], deadline: Duration = patience, group: String? = nil
    ) -> (result: String, log: [String]) {
        let log = Guarded<[String]>([])
        let result = ExtensionHost(directory: "/nonexistent").blocking.run(
            manifest(word, group: group), items, deadline: deadline, log: { line in log.withLock { $0.append(line) } },
            open: { url in log.withLock { $0.append("open \(url)") } })
        return (words(of: result), log.withLock { $0 })
    }

    static func words(of result: ExtensionResult) -> String {
        switch result {
        case .completed(let items): "completed \(items.map { $0.text ?? "-" }.joined(separator: " "))"
        case .cancelled(let error): "cancelled \(error.domain) \(error.code) \(error.text)"
        case .failed(let failure): "failed \(failure.reason)"
        }
    }
}
