// As with the module of that name on Apple's systems, Foundation comes with it; and the types that a call of
// `runAsWidget` needs. (Not all of Widgets: its `Timeline` would be ambiguous in a program that imports WidgetKit,
// too.)
@_exported import Foundation
@_exported import struct Widgets.WidgetAction
@_exported import struct Widgets.WidgetInterest
@_exported import struct Widgets.WidgetSize
@_exported import struct Widgets.WidgetView
