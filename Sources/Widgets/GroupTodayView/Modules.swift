// The whole view uses panels, widgets' views and user commands: these are values, and the pure files here may name them
// without an import of their own.
@_exported import GroupCommandLine
@_exported import GroupWidgetHosting
