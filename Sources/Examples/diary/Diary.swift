#if canImport(AppleFileCoordination)
import AppleFileCoordination
import NotificationCenter

typealias UserDefaults = GroupUserDefaults
#else
import Foundation
import NotificationCenter
#endif

/// The place of the diary, which the app and its widget share.
enum Diary {
    static let group = "group.com.example.diary"

    static var url: URL? {
        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)?
            .appendingPathComponent("Library/diary.txt")
    }

    /// Returns the text as it stands in the app, saved or not.
    static func read() throws -> String {
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        var error: NSError?
        var text = Result<String, Error>.success("")
        NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { url in
            text = Result { try String(contentsOf: url, encoding: .utf8) }
        }
        if let error { throw error }
        do {
            return try text.get()
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            // There is no entry yet. Any other failure must not look like an empty diary, which the next save would
            // store.
            return ""
        }
    }
}

/// What the user has chosen, for the app and the widget.
struct Settings {
    private let defaults = UserDefaults(suiteName: Diary.group)

    var author: String? { defaults?.string(forKey: "author") }
    func save(author: String) { defaults?.set(author, forKey: "author") }
    func clear() { defaults?.removeObject(forKey: "author") }
}

/// The diary while it is open: the text as the user has typed it. Who reads the file makes it save first.
final class DiaryDocument: NSObject, NSFilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }()
    private let lock = NSLock()
    private var lines: [String]
    private var isSaved = true
    /// Whether another process writes the file, or has just written it: the text is then not to be changed.
    private var hasLetGo = false
    /// What the user has typed meanwhile.
    private var typed: [String] = []

    init(_ url: URL) throws {
        presentedItemURL = url
        lines = try Diary.read().split(separator: "\n").map(String.init)
        super.init()
        NSFileCoordinator.addFilePresenter(self)
    }

    func append(_ line: String) {
        lock.lock()
        defer { lock.unlock() }
        if hasLetGo {
            typed.append(line)
        } else {
            lines.append(line)
            isSaved = false
        }
    }

    func close() throws {
        try save()
        NSFileCoordinator.removeFilePresenter(self)
    }

    private func save() throws {
        guard let url = presentedItemURL, hasChanges else { return }
        var error: NSError?
        var failure: Error?
        NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, options: .forReplacing, error: &error) {
            lock.lock()
            defer { lock.unlock() }
            do {
                // The write for which the document let go is over.
                if hasLetGo { takeOver() }
                try lines.joined(separator: "\n").write(to: $0, atomically: true, encoding: .utf8)
                isSaved = true
            } catch {
                failure = error
            }
        }
        if let error = error ?? failure { throw error }
    }

    private var hasChanges: Bool {
        lock.lock()
        defer { lock.unlock() }
        return !isSaved || !typed.isEmpty
    }

    private func load() {
        lock.lock()
        defer { lock.unlock() }
        if !hasLetGo { takeOver() }
    }

    private func letGo() {
        lock.lock()
        defer { lock.unlock() }
        hasLetGo = true
    }

    private func reacquire() {
        lock.lock()
        defer { lock.unlock() }
        if hasLetGo { takeOver() }
    }

    /// Takes over the text of the file, unless there is one to save, and then what was typed meanwhile.
    private func takeOver() {
        hasLetGo = false
        if let url = presentedItemURL, isSaved, let text = try? String(contentsOf: url, encoding: .utf8) {
            lines = text.split(separator: "\n").map(String.init)
        }
        lines += typed
        if !typed.isEmpty { isSaved = false }
        typed = []
    }

    // MARK: NSFilePresenter

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        reader(nil)
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        letGo()
        writer { self.reacquire() }
    }

    func savePresentedItemChanges(completionHandler: @escaping @Sendable (Error?) -> Void) {
        do {
            try save()
            completionHandler(nil)
        } catch {
            completionHandler(error)
        }
    }

    func presentedItemDidChange() { load() }
}

/// The widget: the last line of the diary.
final class DiaryViewController: NSObject, NCWidgetProviding {
    private(set) var line = ""

    func widgetPerformUpdate(completionHandler: @escaping (NCUpdateResult) -> Void) {
        guard let text = try? Diary.read() else { return completionHandler(.failed) }
        let last = text.split(separator: "\n").last.map(String.init) ?? "nothing yet"
        if last == line { return completionHandler(.noData) }
        line = last
        completionHandler(.newData)
    }
}
