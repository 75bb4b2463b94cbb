// Frames are measured in the cells of a widget's view, and texts come from commands: these are values, and the pure files
// here may name them without an import of their own.
@_exported import GroupCommandLine
@_exported import Widgets
