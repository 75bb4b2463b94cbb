import GroupContainer
import Synchronization
import TodoShared

/// Entries that a user has typed and that are not saved yet. A process that reads the list, such as the widget, gets
/// them nevertheless: its request asks this presenter to save first.
final class TodoDraft: ItemPresenter {
    private let unsaved = Mutex([String]())
    private let timeout: Duration
    /// Set once the list is presented.
    private let presentation = Mutex<Presentation?>(nil)

    let answers: PresenterQuestions = [.relinquishToReader, .relinquishToWriter, .saveChanges]

    private init(timeout: Duration) { self.timeout = timeout }

    /// Presents the list from now on, until `end()`.
    static func begin(in container: Container, timeout: Duration) throws -> TodoDraft {
        let draft = TodoDraft(timeout: timeout)
        let presentation = try container.present(draft, at: TodoList.path)
        draft.presentation.withLock { $0 = presentation }
        return draft
    }

    /// What is not saved.
    var entries: [String] { unsaved.withLock(\.self) }

    func add(_ title: String) { unsaved.withLock { $0.append(title) } }

    func saveChanges() async throws { try save() }

    /// Adds what was typed to the list. What cannot be saved stays unsaved.
    func save() throws {
        try unsaved.withLock { titles in
            guard !titles.isEmpty, let presentation = presentation.withLock({ $0 }) else { return }
            let list = TodoList(presentation.coordinator(purpose: "todo-app").blocking, timeout: timeout)
            try list.add(titles)
            titles = []
        }
    }

    func end() throws {
        try save()
        presentation.withLock { presentation in
            presentation?.end()
            presentation = nil
        }
    }
}
