// Hosting speaks of the views, timelines and messages of Widgets throughout: they are values, and what decides here may
// name them without an import of its own.
@_exported import Widgets
