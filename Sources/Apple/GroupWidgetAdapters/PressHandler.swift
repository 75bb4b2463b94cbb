package import GroupContainer
package import Widgets

/// What a press of a widget's button or toggle does, where closures say it: see `WidgetProvider.perform(_:on:)`.
package struct PressHandler: Sendable {
    /// Returns the items that a press reads or changes.
    package typealias Items = @Sendable (WidgetAction) -> [AccessIntent]
    /// Does what a press requests.
    package typealias Perform = @Sendable (WidgetAction, Access) throws -> Void

    package let items: Items
    private let body: Perform?

    package init(items: @escaping Items, perform: Perform?) { (self.items, body) = (items, perform) }

    package func perform(_ action: WidgetAction, on access: Access) throws {
        guard let body else { throw PressRefusal("this widget has no 'perform' for what is pressed") }
        try body(action, access)
    }
}
