import TestSupport
import Testing
import Widgets

@testable import GroupWidgetHosting

@Suite(.ownThreads) struct `A widget host under random events` {
    private static let manifests = ["a", "b", "c"].map { kind in
        WidgetManifest(kind: kind, executable: kind, rooms: [.compact: .init(), .expanded: .init()])
    }

    private static func disturb(_ world: inout HostWorld) {
        let kind = world.kinds.isEmpty ? "a" : world.kinds[world.roll(world.kinds.count)]
        switch world.roll(28) {
        case 0...3: world.change(kind)
        case 4, 5: world.happen(.user(.hide(kind)))
        case 6, 7: world.happen(.user(.show(kind)))
        case 8: world.happen(.user(.expand(kind)))
        case 9: world.happen(.user(.collapse(kind)))
        case 10: world.happen(.memoryPressure)
        case 11: world.happen(.executableReplaced(kind: kind))
        case 12: world.happen(.user(.reload(world.roll(2) == 0 ? kind : nil)))
        case 13: world.happen(.appInFront(world.roll(2) == 0))
        case 14: world.happen(.user(world.roll(2) == 0 ? .remove(kind) : .add(kind)))
        case 15: world.happen(.user(.order([kind])))
        case 16: world.happen(.manifests(Array(manifests.shuffled(using: &SeededGenerator.once).prefix(2))))
        case 17: world.happen(.manifests(manifests))
        case 18: if let run = world.widgets.keys.first { world.die(run, .status(3)) }
        case 24...27: world.happen(.user(.press(kind, line: 1)))
        default: world.pass(Int64(world.roll(8_000)) * 1_000_000)
        }
    }

    @Test(arguments: UInt64(0)..<200) func `a host never has two processes of a widget, nor sends to a stopped one`(
        seed: UInt64
    ) {
        var world = HostWorld(Self.manifests, seed: seed)
        for _ in 0..<300 {
            Self.disturb(&world)
            for _ in 0..<world.roll(4) where !world.step() { break }
        }
        #expect(world.violations == [])
    }

    @Test(arguments: UInt64(200)..<340)
    func `a host shows the current content of each visible widget once all is quiet`(
        seed: UInt64
    ) {
        var world = HostWorld(Self.manifests, seed: seed)
        for _ in 0..<200 {
            Self.disturb(&world)
            for _ in 0..<world.roll(4) where !world.step() { break }
        }
        world.isWellBehaved = true
        world.happen(.manifests(Self.manifests))
        world.settle()
        #expect(world.violations == [])
        for kind in world.kinds {
            guard let widget = world.state.widgets[kind] else { continue }
            if widget.isVisible {
                #expect(widget.process?.phase == .active && widget.process?.update == nil, "\(kind): \(widget)")
                #expect(world.shown(kind) == String(world.truth[kind] ?? 0), "\(kind): \(widget)")
                #expect(widget.fault == nil && widget.presses.isEmpty)
            } else {
                #expect(widget.process == nil || widget.process?.phase == .suspended, "\(kind): \(widget)")
            }
        }
        let wrong = world.answered.filter { $0.value != world.performed.contains($0.key) }
        #expect(wrong.isEmpty, "\(wrong)")
        world.happen(.user(.quit))
        world.settle()
        #expect(world.widgets.isEmpty && world.actions.last == .finished && world.violations == [])
    }
}

extension SeededGenerator {
    /// A new generator with a fixed seed, for one use.
    fileprivate static var once: SeededGenerator {
        get { SeededGenerator(seed: 7) }
        set {}
    }
}
