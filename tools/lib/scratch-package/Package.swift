// swift-tools-version: 6.3
import PackageDescription

// A package as others write it, which uses this one from outside: tools/package-check copies, builds and runs it.

/// Where the package is that this one depends on.
let groupContainer = Context.environment["GROUP_CONTAINER_PACKAGE"] ?? "../../.."

let package = Package(
    name: "shelf",
    dependencies: [.package(name: "group-container", path: groupContainer)],
    targets: [
        .target(
            name: "ShelfShared",
            dependencies: [
                .product(name: "GroupContainer", package: "group-container"),
                .product(name: "Widgets", package: "group-container"),
            ]),
        .executableTarget(
            name: "shelf", dependencies: ["ShelfShared", .product(name: "WidgetApp", package: "group-container")]),
        .executableTarget(name: "shelf-widget", dependencies: ["ShelfShared"]),
        .executableTarget(
            name: "shelf-share", dependencies: [.product(name: "Extensions", package: "group-container")]),
        .testTarget(
            name: "ShelfTests",
            dependencies: ["ShelfShared", .product(name: "GroupContainerTesting", package: "group-container")]),
    ])
