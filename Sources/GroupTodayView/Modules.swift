// The view speaks of panels, widgets' views and what people ask for throughout: they are values, and what decides here
// may name them without an import of its own.
@_exported import GroupCommandLine
@_exported import GroupWidgetHosting
