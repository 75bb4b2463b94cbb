// As with the module of that name on Apple's systems, Foundation comes with it; and the types that a call of
// `runAsWidget` needs, so that a file need not import Widgets, whose `Timeline` and `WidgetCenter` are other types.
@_exported import Foundation
@_exported import struct Widgets.WidgetAction
@_exported import struct Widgets.WidgetInterest
@_exported import struct Widgets.WidgetSize
@_exported import struct Widgets.WidgetView
