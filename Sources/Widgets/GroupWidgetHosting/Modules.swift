// The views, timelines and messages of Widgets are values that all of this module uses, so its files need no import of
// Widgets.
@_exported import Widgets
