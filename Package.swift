// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let commands: [Target.Dependency] = [
    "GroupContainer", "GroupBytes", "GroupSystemCalls", "GroupCommandLine", "GroupCommands",
]

let package = Package(
    name: "group-container",
    products: [
        .library(name: "GroupContainer", targets: ["GroupContainer"]),
        .library(name: "Widgets", targets: ["Widgets"]),
        .library(name: "WidgetApp", targets: ["WidgetApp"]),
        .library(name: "NotificationCenter", targets: ["NotificationCenter"]),
        .library(name: "WidgetKit", targets: ["WidgetKit"]),
        .library(name: "Extensions", targets: ["Extensions"]),
        .library(name: "ExtensionHosting", targets: ["ExtensionHosting"]),
        .library(name: "GroupDatabase", targets: ["GroupDatabase"]),
        .library(name: "Transfers", targets: ["Transfers"]),
        .library(name: "GroupPasteboard", targets: ["GroupPasteboard"]),
        .library(name: "GroupSecrets", targets: ["GroupSecrets"]),
        .library(name: "AppleFileCoordination", targets: ["AppleFileCoordination"]),
        .library(name: "GroupContainerTesting", targets: ["GroupContainerTesting"]),
        .executable(name: "watch-group", targets: ["watch-group"]),
        .executable(name: "groupctl", targets: ["groupctl"]),
        .executable(name: "widget-host", targets: ["widget-host"]),
        .executable(name: "group-share", targets: ["group-share"]),
        .executable(name: "group-transfer", targets: ["group-transfer"]),
        .executable(name: "group-cluster", targets: ["group-cluster"]),
    ],
    traits: [
        .default(enabledTraits: ["InotifyTools"]),
        .trait(
            name: "InotifyTools",
            description: """
                Receive inotify events through libinotifytools, which is GPL-2 only; without it, from the kernel.
                """),
    ],
    targets: [
        .systemLibrary(name: "CGroupInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
        .target(name: "CGroupLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(
            name: "GroupSystemCalls",
            dependencies: [
                "CGroupLinux",
                .target(name: "CGroupInotifyTools", condition: .when(traits: ["InotifyTools"])),
            ],
            swiftSettings: strict),
        .target(name: "GroupBytes", swiftSettings: strict),
        .target(name: "GroupCluster", dependencies: ["GroupBytes"], swiftSettings: strict),
        .target(name: "GroupLog", dependencies: ["GroupBytes", "GroupSystemCalls"], swiftSettings: strict),
        .target(name: "GroupLocking", dependencies: ["GroupBytes", "GroupSystemCalls"], swiftSettings: strict),
        .target(
            name: "GroupContainer", dependencies: ["GroupBytes", "GroupLocking", "GroupLog", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(name: "GroupProtocolLines", dependencies: ["GroupSystemCalls"], swiftSettings: strict),
        .target(
            name: "Widgets", dependencies: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(name: "WidgetAppIsForAppsNotForWidgets"),
        .target(
            name: "WidgetApp",
            dependencies: ["Widgets", "GroupContainer", "GroupSystemCalls", "WidgetAppIsForAppsNotForWidgets"],
            swiftSettings: strict),
        .target(
            name: "GroupWidgetAdapters", dependencies: ["Widgets", "GroupContainer", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(
            name: "NotificationCenter", dependencies: ["GroupWidgetAdapters", "Widgets", "GroupContainer"],
            swiftSettings: strict),
        .target(
            name: "WidgetKit", dependencies: ["GroupWidgetAdapters", "Widgets", "GroupContainer", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(
            name: "AppleFileCoordination", dependencies: ["GroupContainer", "GroupSystemCalls"], swiftSettings: strict),
        .target(
            name: "GroupContainerTesting", dependencies: ["Widgets", "GroupContainer", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(name: "GroupCommandLine", dependencies: ["GroupBytes", "CGroupLinux"], swiftSettings: strict),
        .target(
            name: "GroupCommands",
            dependencies: ["GroupContainer", "GroupBytes", "GroupSystemCalls", "GroupCommandLine"],
            swiftSettings: strict),
        .target(
            name: "GroupManifests", dependencies: ["GroupBytes", "GroupSystemCalls", "GroupCommandLine"],
            swiftSettings: strict),
        .target(
            name: "GroupWidgetHosting",
            dependencies: [
                "Widgets", "GroupManifests", "GroupProtocolLines", "GroupContainer", "GroupBytes", "GroupSystemCalls",
                "GroupCommandLine",
            ],
            swiftSettings: strict),
        .target(
            name: "Extensions", dependencies: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(
            name: "ExtensionHosting",
            dependencies: [
                "Extensions", "GroupManifests", "GroupProtocolLines", "GroupContainer", "GroupBytes",
                "GroupSystemCalls", "GroupCommandLine",
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CGroupSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "GroupDatabase", dependencies: ["CGroupSQLite", "GroupContainer", "GroupBytes", "GroupSystemCalls"],
            swiftSettings: strict),
        .systemLibrary(name: "CGroupCurl", providers: [.apt(["libcurl4-openssl-dev", "libssl-dev"])]),
        .target(
            name: "GroupEtcd", dependencies: ["CGroupCurl", "GroupBytes", "GroupSystemCalls"], swiftSettings: strict),
        .target(name: "GroupDigest", dependencies: ["CGroupCurl", "GroupSystemCalls"], swiftSettings: strict),
        .target(
            name: "Transfers", dependencies: ["GroupContainer", "GroupBytes", "GroupSystemCalls"], swiftSettings: strict
        ),
        .target(
            name: "GroupPasteboard", dependencies: ["GroupContainer", "Extensions", "GroupSystemCalls"],
            swiftSettings: strict),
        .systemLibrary(name: "CGroupSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
        .target(
            name: "GroupSecrets", dependencies: ["CGroupSecret", "GroupContainer", "GroupSystemCalls"],
            swiftSettings: strict),
        .target(
            name: "GroupTodayView", dependencies: ["GroupWidgetHosting", "GroupSystemCalls", "GroupCommandLine"],
            swiftSettings: strict),
        .executableTarget(name: "watch-group", dependencies: commands, swiftSettings: strict),
        .executableTarget(
            name: "widget-host",
            dependencies: commands + ["Widgets", "GroupManifests", "GroupWidgetHosting", "GroupTodayView"],
            swiftSettings: strict),
        .executableTarget(
            name: "group-share",
            dependencies: commands + ["Extensions", "ExtensionHosting", "GroupProtocolLines", "Widgets"],
            swiftSettings: strict),
        .executableTarget(
            name: "group-transfer",
            dependencies: commands + ["Transfers", "Widgets", "GroupSecrets", "GroupDigest", "CGroupCurl"],
            swiftSettings: strict),
        .executableTarget(
            name: "group-cluster",
            dependencies: commands + ["GroupCluster", "GroupDatabase", "GroupEtcd", "GroupDigest", "CGroupCurl"],
            swiftSettings: strict),
        .executableTarget(name: "groupctl", dependencies: commands + ["Widgets"], swiftSettings: strict),
        .target(
            name: "WidgetCommands",
            dependencies: ["Widgets", "GroupContainer", "GroupBytes", "GroupCommandLine", "GroupCommands"],
            path: "Sources/Examples/WidgetCommands", swiftSettings: strict),
        .executableTarget(
            name: "readme-example", dependencies: commands + ["Widgets"], path: "Sources/Examples/readme-example",
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["CGroupLinux", "GroupSystemCalls", "GroupContainer"],
            path: "Tests/TestSupport", exclude: ["server.py"], swiftSettings: strict),
        .target(
            name: "ScenarioKit", dependencies: ["GroupSystemCalls"], path: "Tests/ScenarioKit", swiftSettings: strict),
        .executableTarget(
            name: "test-member",
            dependencies: ["TestSupport", "GroupContainer", "GroupSystemCalls", "GroupCommandLine", "ScenarioKit"],
            path: "Tests/TestMember", swiftSettings: strict),
        .executableTarget(
            name: "test-widget", dependencies: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls", "Widgets"],
            path: "Tests/TestWidget",
            swiftSettings: strict),
        .executableTarget(
            name: "inbox-member", dependencies: ["GroupContainer", "Extensions"], path: "Tests/InboxMember",
            swiftSettings: strict),
        .executableTarget(
            name: "test-extension",
            dependencies: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls", "Extensions"],
            path: "Tests/TestExtension", swiftSettings: strict),
        .executableTarget(
            name: "adopted-widget", dependencies: ["NotificationCenter", "WidgetKit"], path: "Tests/AdoptedWidgets",
            swiftSettings: strict),
        .executableTarget(
            name: "test-today", dependencies: ["GroupTodayView", "GroupSystemCalls"], path: "Tests/TodayProgram",
            swiftSettings: strict),
        .executableTarget(
            name: "stress-worker", dependencies: ["GroupContainer", "GroupLocking", "GroupSystemCalls"],
            path: "Tests/StressWorker", swiftSettings: strict),
        .executableTarget(
            name: "storm-member", dependencies: ["TestSupport", "Widgets", "GroupContainer", "GroupSystemCalls"],
            path: "Tests/StormMember", swiftSettings: strict),
        .target(name: "PresenterModel", path: "Tests/PresenterModel", swiftSettings: strict),
        .executableTarget(
            name: "presenter-storm",
            dependencies: ["PresenterModel", "TestSupport", "GroupContainer", "GroupSystemCalls"],
            path: "Tests/PresenterStorm", swiftSettings: strict),
        .executableTarget(
            name: "crash-worker", dependencies: ["TestSupport", "Widgets", "GroupContainer"],
            path: "Tests/CrashWorker", swiftSettings: strict),
        .executableTarget(
            name: "bench-worker", dependencies: ["GroupContainer"], path: "Tests/BenchWorker", swiftSettings: strict),
        .testTarget(name: "GroupBytesTests", dependencies: ["GroupBytes"], swiftSettings: strict),
        .testTarget(
            name: "GroupClusterTests", dependencies: ["TestSupport", "GroupCluster"], swiftSettings: strict),
        .target(
            name: "EtcdSupport", dependencies: ["TestSupport", "GroupSystemCalls"], path: "Tests/EtcdSupport",
            swiftSettings: strict),
        .executableTarget(
            name: "cluster-bench", dependencies: ["GroupContainer", "GroupEtcd", "GroupSystemCalls"],
            path: "Tests/ClusterBench", swiftSettings: strict),
        .executableTarget(
            name: "cluster-storm",
            dependencies: ["EtcdSupport", "TestSupport", "GroupContainer", "GroupSystemCalls"],
            path: "Tests/ClusterStorm", swiftSettings: strict),
        .testTarget(
            name: "GroupEtcdTests", dependencies: ["EtcdSupport", "TestSupport", "GroupEtcd", "GroupSystemCalls"],
            exclude: ["fake.py"], swiftSettings: strict),
        .testTarget(
            name: "GroupLogTests", dependencies: ["TestSupport", "GroupLog", "GroupBytes", "GroupSystemCalls"],
            swiftSettings: strict),
        .testTarget(
            name: "GroupLockingTests", dependencies: ["TestSupport", "GroupLocking", "GroupBytes", "GroupSystemCalls"],
            swiftSettings: strict),
        .testTarget(
            name: "ClusterTests",
            dependencies: [
                "EtcdSupport", "TestSupport", "GroupContainer", "GroupSystemCalls", "group-cluster", "groupctl",
                "watch-group",
            ],
            swiftSettings: strict),
        .testTarget(name: "GroupCommandLineTests", dependencies: ["GroupCommandLine"], swiftSettings: strict),
        .testTarget(
            name: "GroupCommandsTests",
            dependencies: ["GroupCommands", "GroupCommandLine", "GroupContainer", "watch-group"],
            swiftSettings: strict),
        .testTarget(
            name: "GroupSystemCallsTests", dependencies: ["TestSupport", "GroupSystemCalls"], swiftSettings: strict),
        .testTarget(
            name: "ScenarioKitTests", dependencies: ["ScenarioKit", "TestSupport", "GroupSystemCalls"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "WatchingTests",
            dependencies: [
                "TestSupport", "ScenarioKit", "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog",
                "GroupSystemCalls", "groupctl",
                "watch-group", "test-member",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WidgetsTests",
            dependencies: [
                "TestSupport", "GroupProtocolLines", "Widgets", "WidgetApp", "GroupContainer", "groupctl",
                "watch-group", "todo",
                "todo-widget",
                "readme-example", "note", "note-widget", "countdown", "countdown-widget", "quick-actions",
                "quick-actions-widget",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GroupWidgetHostingTests",
            dependencies: [
                "TestSupport", "GroupManifests", "GroupWidgetHosting", "Widgets", "WidgetApp", "GroupContainer",
                "GroupSystemCalls",
                "widget-host",
                "test-widget",
                "groupctl", "todo", "todo-widget", "note", "note-widget", "countdown", "countdown-widget",
                "quick-actions",
                "quick-actions-widget",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ExtensionsTests",
            dependencies: [
                "TestSupport", "Extensions", "GroupProtocolLines", "GroupContainer", "GroupSystemCalls",
                "test-extension", "inbox-member", "groupctl",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ExtensionHostingTests",
            dependencies: [
                "TestSupport", "ExtensionHosting", "Extensions", "GroupManifests", "GroupProtocolLines",
                "GroupContainer", "GroupSystemCalls", "test-extension", "group-share", "groupctl", "bookmarks",
                "bookmarks-share",
                "title-case", "photos", "photo-light", "PhotoPNG", "page-host", "page-words",
            ],
            exclude: ["browser.py"], swiftSettings: strict),
        .executableTarget(
            name: "database-member", dependencies: ["GroupContainer", "GroupDatabase"], path: "Tests/DatabaseMember",
            swiftSettings: strict),
        .testTarget(
            name: "GroupDatabaseTests",
            dependencies: [
                "TestSupport", "GroupDatabase", "GroupContainer", "GroupSystemCalls", "database-member", "watch-group",
                "groupctl", "group-share", "notebook", "notebook-widget", "notebook-share",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TransfersTests",
            dependencies: [
                "TestSupport", "Transfers", "WidgetApp", "GroupContainer", "GroupSystemCalls", "group-transfer",
                "groupctl", "maps", "maps-widget",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "pasteboard-member", dependencies: ["GroupContainer", "GroupPasteboard", "Extensions"],
            path: "Tests/PasteboardMember", swiftSettings: strict),
        .testTarget(
            name: "GroupPasteboardTests",
            dependencies: [
                "TestSupport", "GroupPasteboard", "Extensions", "GroupContainer", "GroupSystemCalls",
                "pasteboard-member",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "secrets-member", dependencies: ["GroupSecrets"], path: "Tests/SecretsMember", swiftSettings: strict),
        .testTarget(
            name: "GroupSecretsTests",
            dependencies: [
                "TestSupport", "GroupSecrets", "GroupContainer", "GroupSystemCalls", "secrets-member", "group-transfer",
                "groupctl",
            ],
            exclude: ["session.conf"], swiftSettings: strict),
        .testTarget(
            name: "GroupTodayViewTests",
            dependencies: ["TestSupport", "GroupTodayView", "test-today", "GroupWidgetHosting", "GroupSystemCalls"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "TestSupport", "GroupContainer", "groupctl", "watch-group", "widget-host", "group-share",
                "group-transfer",
                "group-cluster", "todo",
                "todo-widget",
                "readme-example", "test-member",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "TestSupport", "ScenarioKit", "PresenterModel", "GroupContainer", "GroupLocking", "GroupSystemCalls",
                "groupctl", "watch-group", "test-member", "storm-member", "presenter-storm",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NotificationCenterTests",
            dependencies: [
                "TestSupport", "GroupContainerTesting", "NotificationCenter", "Widgets", "GroupContainer",
                "GroupSystemCalls", "widget-host", "groupctl", "adopted-widget",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WidgetKitTests",
            dependencies: [
                "TestSupport", "GroupContainerTesting", "WidgetKit", "Widgets", "GroupContainer", "GroupSystemCalls",
                "widget-host", "groupctl", "adopted-widget",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AppleFileCoordinationTests",
            dependencies: [
                "TestSupport", "GroupContainerTesting", "AppleFileCoordination", "GroupContainer", "GroupSystemCalls",
                "groupctl", "watch-group", "widget-host", "test-member", "diary",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GroupContainerTestingTests", dependencies: ["GroupContainerTesting", "Widgets", "GroupContainer"],
            swiftSettings: strict),
        .testTarget(
            name: "GroupContainerTests",
            dependencies: [
                "TestSupport", "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog", "Widgets",
                "GroupSystemCalls",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

/// An app and its widget, as separate programs, and what they share: a library, which may use what a widget may use.
func example(_ name: String, _ shared: String) -> [Target] {
    let app: [Target.Dependency] = ["Widgets", "WidgetApp", .byName(name: shared)]
    let widget: [Target.Dependency] = ["Widgets", "WidgetCommands", .byName(name: shared)]
    return [
        .target(
            name: shared, dependencies: ["GroupContainer", "Widgets"], path: "Sources/Examples/\(shared)",
            swiftSettings: strict),
        .executableTarget(
            name: name, dependencies: commands + app, path: "Sources/Examples/\(name)", swiftSettings: strict),
        .executableTarget(
            name: "\(name)-widget", dependencies: commands + widget, path: "Sources/Examples/\(name)-widget",
            swiftSettings: strict),
    ]
}

package.targets += example("todo", "TodoShared")
package.targets += example("note", "NoteShared")
package.targets += example("countdown", "CountdownShared")
package.targets += example("quick-actions", "QuickActionsShared")

// An app, its share extension, and an action of another app.
package.targets += [
    .executableTarget(
        name: "bookmarks", dependencies: commands + ["Extensions"], path: "Sources/Examples/bookmarks",
        swiftSettings: strict),
    .executableTarget(
        name: "bookmarks-share", dependencies: ["Extensions", "GroupContainer"],
        path: "Sources/Examples/bookmarks-share", swiftSettings: strict),
    .executableTarget(
        name: "title-case", dependencies: ["Extensions"], path: "Sources/Examples/title-case", swiftSettings: strict),
]

// A host of photo editing extensions, and one of these.
package.targets += [
    .systemLibrary(name: "CPhotoPNG", path: "Sources/Examples/CPhotoPNG", providers: [.apt(["libpng-dev"])]),
    .target(
        name: "PhotoPNG", dependencies: ["CPhotoPNG"], path: "Sources/Examples/PhotoPNG", swiftSettings: strict),
    .executableTarget(
        name: "photos", dependencies: commands + ["Extensions", "ExtensionHosting", "PhotoPNG"],
        path: "Sources/Examples/photos", swiftSettings: strict),
    .executableTarget(
        name: "photo-light", dependencies: ["Extensions", "PhotoPNG"], path: "Sources/Examples/photo-light",
        swiftSettings: strict),
]

// A host of page scripts, and one of these.
package.targets += [
    .executableTarget(
        name: "page-host", dependencies: commands + ["Extensions", "ExtensionHosting", "GroupProtocolLines"],
        path: "Sources/Examples/page-host", swiftSettings: strict),
    .executableTarget(
        name: "page-words", dependencies: ["Extensions", "GroupContainer"], path: "Sources/Examples/page-words",
        swiftSettings: strict),
]

// An app with a database, its widget and its share extension.
package.targets += [
    .target(
        name: "NotebookShared", dependencies: ["GroupContainer", "GroupDatabase"],
        path: "Sources/Examples/NotebookShared", swiftSettings: strict),
    .executableTarget(
        name: "notebook", dependencies: commands + ["NotebookShared"], path: "Sources/Examples/notebook",
        swiftSettings: strict),
    .executableTarget(
        name: "notebook-widget", dependencies: commands + ["Widgets", "WidgetCommands", "NotebookShared"],
        path: "Sources/Examples/notebook-widget", swiftSettings: strict),
    .executableTarget(
        name: "notebook-share", dependencies: ["Extensions", "GroupContainer", "NotebookShared"],
        path: "Sources/Examples/notebook-share", swiftSettings: strict),
]

// An app whose widget downloads files for it.
package.targets += [
    .target(
        name: "MapsShared", dependencies: ["GroupContainer", "Transfers"], path: "Sources/Examples/MapsShared",
        swiftSettings: strict),
    .executableTarget(
        name: "maps", dependencies: commands + ["WidgetApp", "MapsShared"], path: "Sources/Examples/maps",
        swiftSettings: strict),
    .executableTarget(
        name: "maps-widget", dependencies: ["Widgets", "WidgetCommands", "MapsShared"],
        path: "Sources/Examples/maps-widget", swiftSettings: strict),
]

// Code as it stands in apps of Apple's systems, with the language mode that many of them have.
package.targets += [
    .executableTarget(
        name: "diary", dependencies: ["AppleFileCoordination", "NotificationCenter"], path: "Sources/Examples/diary",
        swiftSettings: [.swiftLanguageMode(.v5)])
]

// The decoders, as a test of their corpora; or, for `tools/fuzz`, as the one program that libFuzzer drives.
let decoders: [Target.Dependency] = [
    "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog", "GroupSystemCalls", "GroupProtocolLines", "Widgets",
    "GroupManifests", "GroupWidgetHosting", "GroupTodayView", "GroupCommandLine", "GroupCommands", "Extensions",
    "ExtensionHosting", "Transfers", "GroupCluster", "GroupEtcd",
]
package.targets += [
    Context.environment["GROUP_CONTAINER_FUZZING"] == nil
        ? .testTarget(
            name: "FuzzTests", dependencies: decoders + ["TestSupport"], path: "Tests/Fuzzers",
            exclude: ["Corpora", "README.md", "Entry.swift"], swiftSettings: strict)
        : .executableTarget(
            name: "fuzz-decoders", dependencies: decoders, path: "Tests/Fuzzers",
            exclude: ["Corpora", "README.md", "DecoderTests.swift"],
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
]

// For `tools/test --target`: only some test targets, and what they depend on.
if let names = Context.environment["GROUP_CONTAINER_TEST_TARGETS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    var found = names.split(separator: " ").map { String($0) }
    while let name = found.popLast() {
        if !needed.insert(name).inserted { continue }
        for case .byNameItem(let dependency, _) in targets[name]?.dependencies ?? [] { found.append(dependency) }
        for case .targetItem(let dependency, _) in targets[name]?.dependencies ?? [] { found.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll()
}
