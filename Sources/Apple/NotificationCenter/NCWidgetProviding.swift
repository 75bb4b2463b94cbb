public import Foundation
import GroupWidgetAdapters
import Widgets

/// An object that updates a widget. All methods are called on the main actor, and each has a default implementation.
/// Declare each method in the class that adopts this protocol. A method that only a subclass of it declares is never
/// called; a subclass overrides the one of the adopting class.
///
///     final class Today: NCWidgetProviding {
///         var open = 0
///
///         func widgetPerformUpdate(completionHandler: @escaping (NCUpdateResult) -> Void) {
///             let now = countOpenEntries()
///             completionHandler(now == open ? .noData : .newData)
///             open = now
///         }
///     }
///
/// The method may have its name of before Swift 3, and an optional or an implicitly unwrapped handler, as the templates of
/// Xcode 6 and 8 have it: see `OlderUpdateForms.swift`. If there is no form of it, a line on standard error says so, and
/// each refresh makes the view anew.
///
///     try await Today().runAsWidget(ofKind: "today") { WidgetView(lines: [.init("\($0.open) to do")]) }
@MainActor
public protocol NCWidgetProviding: OptionalUpdateForm, UnwrappedUpdateForm, OldUpdateForm,
    OldOptionalUpdateForm, OldUnwrappedUpdateForm
{
    /// Brings the object up to date, and calls the handler with the result, from any thread, also after this method has
    /// returned. The first call counts; later ones are ignored. If the handler is not called before the deadline of the
    /// refresh, the result is `failed`, and a call after that is ignored. By default the result is `newData`.
    func widgetPerformUpdate(completionHandler: @escaping @Sendable (NCUpdateResult) -> Void)

    /// Brings the object up to date, and returns the result: implement this method instead of the one with a handler.
    /// The task is cancelled at the deadline.
    func widgetPerformUpdate() async -> NCUpdateResult

    /// Receives the display mode of the widget, and the largest size that can be shown, in character cells: before the
    /// first update, and before the first update after one of them has changed. By default does nothing.
    func widgetActiveDisplayModeDidChange(_ activeDisplayMode: NCWidgetDisplayMode, withMaximumSize maxSize: CGSize)

    /// The method above, with its name of Swift 2.3.
    func widgetActiveDisplayModeDidChange(
        activeDisplayMode: NCWidgetDisplayMode, withMaximumSize maxSize: CGSize)

    /// Is called once, before all others. By default does nothing. (There is no `super` to call.)
    func viewDidLoad()
    /// Is called before the first update of the process, and before the first one after the widget has become visible. By
    /// default does nothing.
    func viewWillAppear(_ animated: Bool)
}

extension NCWidgetProviding {
    /// Calls the form with an optional handler.
    public func widgetPerformUpdate(completionHandler: @escaping @Sendable (NCUpdateResult) -> Void) {
        (self as any OptionalUpdateForm).widgetPerformUpdate(completionHandler: completionHandler)
    }

    /// Returns the first result that the handler is called with; `failed` if the task is cancelled before.
    public func widgetPerformUpdate() async -> NCUpdateResult {
        (try? await firstReply { widgetPerformUpdate(completionHandler: $0) }) ?? .failed
    }

    /// Calls the method by its older name.
    public func widgetActiveDisplayModeDidChange(
        _ activeDisplayMode: NCWidgetDisplayMode, withMaximumSize maxSize: CGSize
    ) { widgetActiveDisplayModeDidChange(activeDisplayMode: activeDisplayMode, withMaximumSize: maxSize) }

    /// Does nothing.
    public func widgetActiveDisplayModeDidChange(
        activeDisplayMode: NCWidgetDisplayMode, withMaximumSize maxSize: CGSize
    ) {}

    /// Does nothing.
    public func viewDidLoad() {}

    /// Does nothing.
    public func viewWillAppear(_ animated: Bool) {}
}

/// The result of a widget's update.
public enum NCUpdateResult: UInt, Sendable {
    /// The widget has something new to show: its view is rendered, and compared with the last one.
    case newData
    /// What the widget shows is unchanged: the last view stays. If there is none for the present display mode and
    /// size, or a reload was requested, the view is rendered all the same.
    case noData
    /// The update failed: the last view stays, with its age, and the update is repeated later.
    case failed
}

extension UpdateResult {
    init(_ result: NCUpdateResult) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}

/// How much of a widget is shown.
public enum NCWidgetDisplayMode: Int, Sendable {
    /// A summary.
    case compact
    /// The whole widget.
    case expanded
}

extension NCWidgetDisplayMode {
    init(_ mode: WidgetDisplayMode) {
        switch mode {
        case .compact: self = .compact
        case .expanded: self = .expanded
        }
    }
}

extension WidgetSize {
    /// The size in character cells: the width in columns, the height in rows.
    var cells: CGSize { CGSize(width: columns, height: rows) }
}
