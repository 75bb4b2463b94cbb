// The whole view uses cells, panels, widgets' views and user commands: these are values, and the pure files here may name
// them without an import of their own.
@_exported import GroupTerminal
@_exported import GroupWidgetHosting
