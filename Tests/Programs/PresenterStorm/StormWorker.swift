import Glibc
import GroupContainer
import GroupSystemCalls
import PresenterModel

/// A process of a schedule: it presents items and makes requests, as its steps say.
final class StormWorker: Sendable {
    let container: Container
    let plan: Schedule.Worker
    let events: EventWriter
    private let presenters = Guarded([String: StormPresenter]())
    private let answerCount = Guarded(0)

    init(_ path: String, _ plan: Schedule.Worker) throws {
        self.plan = plan
        events = EventWriter(of: plan.name, own: plan.own)
        container = try Container(path: path)
    }

    /// The file that the controller makes when all processes have taken their steps.
    static func markOfEnd(_ container: String) -> [UInt8] { Array("\(container)/../over".utf8) }

    /// Whether all processes have taken their steps: presenters edit nothing more, and answer at once.
    var isOver: Bool { unsafe access(String(decoding: Self.markOfEnd("\(container.path)"), as: UTF8.self), F_OK) == 0 }

    func work() async throws {
        events.write(.started, "pid=\(getpid())")
        awaitStart()
        for step in plan.steps {
            switch step {
            case .pause(let time): pause(nanoseconds: Int64(time) * 1_000)
            case .present(let presentation):
                let presenter = StormPresenter(presentation, of: self)
                presenters.withLock { $0[presentation.name] = presenter }
                try presenter.present()
            case .withdraw(let name): presenters.withLock { $0[name] }?.withdraw()
            case .request(let request):
                let presenter = request.presenter.flatMap { name in presenters.withLock { $0[name] } }
                let call = StormCall(
                    request: request, coordinator: coordinator(for: request.name, of: presenter),
                    presenter: presenter?.isPresented == true ? request.presenter : nil)
                _ = try? await perform(call)
            }
        }
        events.write(.done)
        // Presents until the controller kills it.
        if !presenters.withLock(\.isEmpty) { pause(nanoseconds: 60_000_000_000) }
    }

    /// All workers begin when the controller closes their input.
    private func awaitStart() {
        var byte: UInt8 = 0
        while unsafe read(0, &byte, 1) > 0 {}
    }

    private func coordinator(for name: String, of presenter: StormPresenter?) -> Coordinator {
        presenter?.coordinator(purpose: name) ?? container.coordinator(purpose: name)
    }

    /// Returns a name for a request that is part of an answer.
    func nextAnswer() -> String {
        answerCount.withLock { count in
            count += 1
            return "\(plan.name)-n\(count)"
        }
    }
}
