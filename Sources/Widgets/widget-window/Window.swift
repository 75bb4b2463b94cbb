import CGroupWindow
import GroupWidgetHosting
import Widgets

/// The window with the cards: see `CGroupWindow.h`. Used on one thread.
@safe final class Window {
    /// Why the window could not be opened.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let window: OpaquePointer
    /// Can be read once the user has done something.
    let descriptor: Int32

    init(title: String) throws(Failure) {
        var descriptor: Int32 = -1
        var reason: UnsafePointer<CChar>?
        guard let window = unsafe group_window_open(title, &descriptor, &reason) else {
            throw unsafe Failure(description: reason.map { unsafe String(cString: $0) } ?? "no memory is left")
        }
        unsafe self.window = unsafe window
        self.descriptor = descriptor
    }

    deinit { unsafe group_window_close(window) }

    /// Shows the cards in this order, and offers other widgets.
    func show(_ cards: [Card], others: [(kind: String, title: String)]) {
        let texts = CTexts()
        let lines = unsafe cards.map { card in unsafe card.lines.map { unsafe texts.line($0) } }
        let widgets = unsafe others.map { other in
            unsafe group_window_widget(kind: texts.text(other.kind), title: texts.text(other.title))
        }
        var all: [group_window_card] = unsafe []
        for (index, card) in cards.enumerated() {
            unsafe all.append(
                group_window_card(
                    kind: texts.text(card.kind), title: texts.text(card.title), note: texts.text(card.note),
                    is_fault: card.isFault ? 1 : 0, is_expandable: card.isExpandable ? 1 : 0,
                    is_expanded: card.isExpanded ? 1 : 0, lines: texts.array(lines[index]),
                    line_count: card.lines.count))
        }
        unsafe group_window_show(window, all, all.count, widgets, widgets.count)
        withExtendedLifetime(texts) {}
    }

    /// Shows a notice for some seconds.
    func note(_ text: String) { unsafe group_window_note(window, text) }

    /// Returns what the user has done next; nil if there is nothing.
    func next() -> WindowEvent? {
        var event = group_window_event()
        if unsafe group_window_next(window, &event) == 0 { return nil }
        let kind = unsafe withUnsafeBytes(of: event.kind) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let line = Int(event.line)
        switch Int(event.what) {
        case GROUP_WINDOW_PRESS: return .command(.press(kind, line: line))
        case GROUP_WINDOW_OPEN: return .command(.open(kind, line: line > 0 ? line : nil))
        case GROUP_WINDOW_EXPAND: return .command(.expand(kind))
        case GROUP_WINDOW_COLLAPSE: return .command(.collapse(kind))
        case GROUP_WINDOW_RELOAD: return .command(.reload(kind))
        case GROUP_WINDOW_REMOVE: return .command(.remove(kind))
        case GROUP_WINDOW_ADD: return .command(.add(kind))
        case GROUP_WINDOW_SHOWN: return .command(.show(kind))
        case GROUP_WINDOW_HIDDEN: return .command(.hide(kind))
        case GROUP_WINDOW_EARLIER: return .move(kind, by: -1)
        case GROUP_WINDOW_LATER: return .move(kind, by: 1)
        default: return .command(.quit)
        }
    }
}

/// What the user has done in the window.
enum WindowEvent: Equatable {
    case command(UserCommand)
    /// Move a card in the order.
    case move(String, by: Int)

    /// The kind of the card; nil for the window itself.
    var kind: String? {
        switch self {
        case .command(let command): command.kind
        case .move(let kind, _): kind
        }
    }
}

/// A card of the window.
struct Card: Equatable {
    struct Line: Equatable {
        var text: String
        var style: WidgetView.Style
        var control: WidgetView.Control?
        var isPressed = false
        var isLink = false
        var percent: Int?
        /// What is at the right: the time that is left.
        var rest: String?
        var imagePath: String?
        var icon: String?
        var imageLabel: String?
        var columns: [String] = []
    }

    var kind: String
    var title: String
    var note: String?
    var isFault = false
    var isExpandable = false
    var isExpanded = false
    var lines: [Line] = []
}

/// The memory of the texts and arrays of a call.
@safe private final class CTexts {
    private var memory: [UnsafeMutableRawPointer] = unsafe []

    deinit { unsafe memory.forEach { unsafe $0.deallocate() } }

    func text(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        // A text ends at its first NUL.
        let bytes = Array(text.utf8.prefix { $0 != 0 }) + [0]
        let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        unsafe pointer.initialize(from: bytes, count: bytes.count)
        unsafe memory.append(UnsafeMutableRawPointer(pointer))
        return unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self)
    }

    func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element>? {
        if elements.isEmpty { return nil }
        let pointer = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        unsafe pointer.initialize(from: elements, count: elements.count)
        unsafe memory.append(UnsafeMutableRawPointer(pointer))
        return unsafe UnsafePointer(pointer)
    }

    func line(_ line: Card.Line) -> group_window_line {
        let columns = unsafe array(line.columns.map { unsafe text($0) })
        return unsafe group_window_line(
            text: text(line.text), style: line.styleNumber, control: line.controlNumber,
            is_pressed: line.isPressed ? 1 : 0, is_link: line.isLink ? 1 : 0, percent: Int32(line.percent ?? -1),
            rest: text(line.rest), image_path: text(line.imagePath), icon: text(line.icon),
            image_label: text(line.imageLabel), columns: columns, column_count: line.columns.count)
    }
}

extension Card.Line {
    fileprivate var styleNumber: Int32 {
        switch style {
        case .normal: Int32(GROUP_WINDOW_NORMAL)
        case .prominent: Int32(GROUP_WINDOW_PROMINENT)
        case .secondary: Int32(GROUP_WINDOW_SECONDARY)
        case .good: Int32(GROUP_WINDOW_GOOD)
        case .warning: Int32(GROUP_WINDOW_WARNING)
        }
    }

    fileprivate var controlNumber: Int32 {
        switch control?.isOn {
        case nil: Int32(control == nil ? GROUP_WINDOW_TEXT : GROUP_WINDOW_BUTTON)
        case false?: Int32(GROUP_WINDOW_OFF)
        case true?: Int32(GROUP_WINDOW_ON)
        }
    }
}
