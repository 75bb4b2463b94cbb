import GroupWidgetAdapters

// The forms of `widgetPerformUpdate(completionHandler:)` in code of other years, each of which is called. Without them such a
// method would compile and never be called. A method whose handler is implicitly unwrapped (`!`) is no witness of a
// requirement with an optional one (`?`), although the types are the same; so each form has a protocol of its own.
//
// Each form calls the next by default:
//
//     widgetPerformUpdate: plain ─▶ ? ─▶ ! ─▶ widgetPerformUpdateWithCompletionHandler: plain ─▶ ? ─▶ ! ─▶ newData

/// The form with an optional handler.
@MainActor public protocol OptionalUpdateForm: AnyObject {
    /// Updates the object.
    func widgetPerformUpdate(completionHandler: (@Sendable (NCUpdateResult) -> Void)?)
}

/// The form with an implicitly unwrapped handler.
@MainActor public protocol UnwrappedUpdateForm: AnyObject {
    /// Updates the object.
    func widgetPerformUpdate(completionHandler: (@Sendable (NCUpdateResult) -> Void)!)
}

/// The form with the name of before Swift 3.
@MainActor public protocol OldUpdateForm: AnyObject {
    /// Updates the object.
    func widgetPerformUpdateWithCompletionHandler(completionHandler: @escaping @Sendable (NCUpdateResult) -> Void)
}

/// The form with the name of before Swift 3 and an optional handler.
@MainActor public protocol OldOptionalUpdateForm: AnyObject {
    /// Updates the object.
    func widgetPerformUpdateWithCompletionHandler(completionHandler: (@Sendable (NCUpdateResult) -> Void)?)
}

/// The form with the name of before Swift 3 and an implicitly unwrapped handler, of the template of Xcode 6.
@MainActor public protocol OldUnwrappedUpdateForm: AnyObject {
    /// Updates the object.
    func widgetPerformUpdateWithCompletionHandler(completionHandler: (@Sendable (NCUpdateResult) -> Void)!)
}

extension OptionalUpdateForm {
    /// Calls the form with an implicitly unwrapped handler.
    public func widgetPerformUpdate(completionHandler: (@Sendable (NCUpdateResult) -> Void)?) {
        (self as? any UnwrappedUpdateForm)?.widgetPerformUpdate(completionHandler: completionHandler)
    }
}

extension UnwrappedUpdateForm {
    /// Calls the method by its older name.
    public func widgetPerformUpdate(completionHandler: (@Sendable (NCUpdateResult) -> Void)!) {
        guard let completionHandler else { return }
        (self as? any OldUpdateForm)?.widgetPerformUpdateWithCompletionHandler(completionHandler: completionHandler)
    }
}

extension OldUpdateForm {
    /// Calls the form with an optional handler.
    public func widgetPerformUpdateWithCompletionHandler(
        completionHandler: @escaping @Sendable (NCUpdateResult) -> Void
    ) {
        (self as? any OldOptionalUpdateForm)?.widgetPerformUpdateWithCompletionHandler(
            completionHandler: completionHandler)
    }
}

extension OldOptionalUpdateForm {
    /// Calls the form with an implicitly unwrapped handler.
    public func widgetPerformUpdateWithCompletionHandler(
        completionHandler: (@Sendable (NCUpdateResult) -> Void)?
    ) {
        (self as? any OldUnwrappedUpdateForm)?.widgetPerformUpdateWithCompletionHandler(
            completionHandler: completionHandler)
    }
}

extension OldUnwrappedUpdateForm {
    /// Says that there is no such method, and calls the handler with `newData`, so that the comparison of views decides.
    public func widgetPerformUpdateWithCompletionHandler(
        completionHandler: (@Sendable (NCUpdateResult) -> Void)!
    ) {
        reportOnce(
            "\(Self.self) updates nothing: it has no widgetPerformUpdate(completionHandler:) that can be called. Declare "
                + "it in the class that adopts NCWidgetProviding, as "
                + "'func widgetPerformUpdate(completionHandler: @escaping (NCUpdateResult) -> Void)'")
        completionHandler?(.newData)
    }
}
