// There is nothing in this module. Its name is what a compiler prints where `import WidgetApp` stands in a target that does
// not depend on WidgetApp, as a widget's does: "missing required module". An app's target is to name it:
//
//     .product(name: "WidgetApp", package: "group-container")
