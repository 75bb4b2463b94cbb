// swift-tools-version: 6.3
import PackageDescription

// Swift 6.3 is the oldest version that has `@c @implementation`, by which GroupLibrary implements its C functions.

// The package by directory: Sources/Container to Sources/Examples, then Tests/. Each directory of Sources has a README;
// docs/internals/architecture.md has the graph of the modules, which tools/modules makes from this file.

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

/// When tools/ builds for debugging, it has the modules that programs and tests use optimized all the same: the tests take
/// half the time then. (Unsafe flags would keep others from using the package.)
let optimized: [SwiftSetting] =
    Context.environment["GROUP_CONTAINER_OPTIMIZED"] == nil
    ? [] : [.unsafeFlags(["-O"])]

/// A directory with a directory for each of its targets, which has the target's name unless `in` names another.
struct Directory {
    let path: String
    var settings = strict

    init(_ path: String) { self.path = path }

    func module(
        _ name: String, in directory: String? = nil, uses: [Target.Dependency] = [], exclude: [String] = []
    ) -> Target {
        .target(
            name: name, dependencies: uses, path: path(directory ?? name), exclude: exclude, swiftSettings: settings)
    }

    func program(_ name: String, in directory: String? = nil, uses: [Target.Dependency] = []) -> Target {
        .executableTarget(name: name, dependencies: uses, path: path(directory ?? name), swiftSettings: settings)
    }

    func tests(_ name: String, exclude: [String] = [], uses: [Target.Dependency]) -> Target {
        .testTarget(name: name, dependencies: uses, path: path(name), exclude: exclude, swiftSettings: strict)
    }

    /// A C library of the system, which is needed only if its trait is on. Its header names the Debian packages.
    func systemLibrary(_ name: String) -> Target { .systemLibrary(name: name, path: path(name)) }

    func path(_ directory: String) -> String { path + "/" + directory }
}

extension Target.Dependency {
    /// A C library that the target uses if a trait is on; its Swift files ask for the trait by `#if`.
    static func library(_ name: String, _ trait: String) -> Target.Dependency {
        .target(name: name, condition: .when(traits: [trait]))
    }
}

// Sources/Container: the shared container. Uses nothing of the other directories.

var container = Directory("Sources/Container")
container.settings += optimized
let containerTargets: [Target] = [
    container.systemLibrary("CGroupInotifyTools"),
    .target(name: "CGroupLinux", path: container.path("CGroupLinux"), cSettings: [.define("_GNU_SOURCE")]),
    container.module(
        "GroupSystemCalls",
        uses: ["CGroupLinux", .library("CGroupInotifyTools", "InotifyTools")]),
    container.module("GroupBytes"),
    container.module("GroupLog", uses: ["GroupBytes", "GroupSystemCalls"]),
    container.module("GroupLocking", uses: ["GroupBytes", "GroupSystemCalls"]),
    container.module("GroupContainer", uses: ["GroupBytes", "GroupLocking", "GroupLog", "GroupSystemCalls"]),
]

// Sources/Renamed: what was called otherwise in an earlier version. Uses nothing.

let renamed = Directory("Sources/Renamed")
let renamedTargets: [Target] = [renamed.module("RemovedOptions")]

// Sources/Commands: groupctl, watch-group, and what all commands share.

var commands = Directory("Sources/Commands")
commands.settings += optimized
let commandModules: [Target.Dependency] = [
    "GroupContainer", "GroupBytes", "GroupSystemCalls", "GroupCommandLine", "GroupCommands",
]
let commandsTargets: [Target] = [
    commands.module("GroupCommandLine", uses: ["GroupBytes", "GroupSystemCalls"]),
    commands.module("GroupCommands", uses: ["GroupContainer", "GroupBytes", "GroupSystemCalls", "GroupCommandLine"]),
    commands.program("watch-group", uses: commandModules),
    commands.program(
        "groupctl", uses: commandModules + ["GroupTerminal", "Widgets", "RemovedOptions", "GroupServing"]),
]

// Sources/Widgets: widgets, apps that have widgets, hosts that show them.

var widgets = Directory("Sources/Widgets")
widgets.settings += optimized
let widgetsTargets: [Target] = [
    widgets.module("GroupProtocolLines", uses: ["GroupBytes", "GroupSystemCalls"]),
    widgets.module("GroupManifests", uses: ["GroupBytes", "GroupSystemCalls", "GroupCommandLine"]),
    widgets.module("Widgets", uses: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls"]),
    .target(name: "AppsOnly", path: widgets.path("AppsOnly")),
    widgets.module(
        "WidgetApp", uses: ["Widgets", "GroupContainer", "GroupSystemCalls", "AppsOnly"]),
    widgets.module("GroupContainerTesting", uses: ["Widgets", "GroupContainer", "GroupSystemCalls"]),
    widgets.module(
        "GroupWidgetHosting",
        uses: [
            "Widgets", "GroupManifests", "GroupProtocolLines", "GroupContainer", "GroupBytes", "GroupSystemCalls",
            "GroupCommandLine",
        ]),
    widgets.module("GroupTerminal", uses: ["Widgets", "GroupSystemCalls", "GroupCommandLine"]),
    widgets.module("GroupTodayView", uses: ["GroupTerminal", "GroupWidgetHosting", "GroupSystemCalls"]),
    widgets.program(
        "widget-host", uses: commandModules + ["Widgets", "GroupManifests", "GroupWidgetHosting", "GroupTodayView"]),
    .systemLibrary(name: "CGTK4", path: widgets.path("CGTK4"), pkgConfig: "gtk4"),
    .target(
        name: "CGroupWindow", dependencies: [.library("CGTK4", "GTK")], path: widgets.path("CGroupWindow"),
        cSettings: [.define("GROUP_GTK", .when(traits: ["GTK"]))]),
    widgets.program(
        "widget-window",
        uses: commandModules + ["CGroupWindow", "Widgets", "GroupManifests", "GroupWidgetHosting"]),
]

// Sources/Extensions: programs that a host runs for one request, their hosts, the pasteboard.

var extensions = Directory("Sources/Extensions")
extensions.settings += optimized
let extensionsTargets: [Target] = [
    extensions.module("Extensions", uses: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls"]),
    extensions.module(
        "ExtensionHosting",
        uses: [
            "Extensions", "GroupManifests", "GroupProtocolLines", "GroupContainer", "GroupBytes", "GroupSystemCalls",
            "GroupCommandLine",
        ]),
    extensions.module("GroupPasteboard", uses: ["GroupContainer", "Extensions", "GroupSystemCalls"]),
    extensions.program(
        "group-share",
        uses: commandModules + ["Extensions", "ExtensionHosting", "GroupProtocolLines", "Widgets"]),
]

// Sources/Apple: the names of Apple's systems.

let apple = Directory("Sources/Apple")
let appleTargets: [Target] = [
    apple.module("AppleFileCoordination", uses: ["GroupContainer", "GroupSystemCalls"]),
    apple.module("GroupWidgetAdapters", uses: ["Widgets", "GroupContainer", "GroupSystemCalls"]),
    apple.module("NotificationCenter", uses: ["GroupWidgetAdapters", "Widgets", "GroupContainer"]),
    apple.module("WidgetKit", uses: ["GroupWidgetAdapters", "Widgets", "GroupContainer", "GroupSystemCalls"]),
]

// Sources/Services: a database, transfers, secrets, and the C libraries for them.

let services = Directory("Sources/Services")
let servicesTargets: [Target] = [
    services.systemLibrary("CGroupSQLite"),
    services.module(
        "GroupDatabase", uses: [.library("CGroupSQLite", "SQLite"), "GroupContainer", "GroupBytes", "GroupSystemCalls"]),
    services.systemLibrary("CGroupSecret"),
    services.module("GroupSecrets", uses: [.library("CGroupSecret", "Secrets"), "GroupContainer", "GroupSystemCalls"]),
    services.systemLibrary("CGroupCurl"),
    services.module("GroupCurl", uses: [.library("CGroupCurl", "Curl"), "GroupSystemCalls"]),
    services.module("GroupDigest", uses: [.library("CGroupCurl", "Curl"), "GroupSystemCalls"]),
    services.module("Transfers", uses: ["GroupContainer", "GroupBytes", "GroupSystemCalls"]),
    services.program(
        "group-transfer",
        uses: commandModules + ["Transfers", "Widgets", "GroupSecrets", "GroupDigest", "GroupCurl"]),
]

// Sources/Cluster: one container on several machines.

var cluster = Directory("Sources/Cluster")
cluster.settings += optimized
let clusterTargets: [Target] = [
    cluster.module("Cluster", uses: ["GroupContainer", "GroupBytes", "GroupLocking", "GroupSystemCalls"]),
    cluster.module("GroupCluster", uses: ["GroupBytes"]),
    cluster.module("GroupEtcd", uses: ["GroupCurl", "GroupBytes", "GroupSystemCalls"]),
    cluster.program(
        "group-cluster",
        uses: commandModules + ["Cluster", "GroupCluster", "GroupDatabase", "GroupEtcd", "GroupDigest", "GroupCurl"]),
]

// Sources/Languages: the container for programs in other languages.

let languages = Directory("Sources/Languages")
let languagesTargets: [Target] = [
    .target(name: "CGroupInterface", path: languages.path("CGroupInterface")),
    languages.module("GroupLibrary", uses: ["CGroupInterface", "GroupContainer", "Widgets"]),
    languages.module("GroupServing", uses: commandModules + ["Widgets"]),
]

// Sources/Examples: programs that use the package as its users do.

let examples = Directory("Sources/Examples")

/// An app and its widget, as separate programs, and what they share: a library, which may use what a widget may use.
func example(_ name: String, _ shared: String) -> [Target] {
    [
        examples.module(shared, uses: ["GroupContainer", "Widgets"]),
        examples.program(name, uses: commandModules + ["Widgets", "WidgetApp", .byName(name: shared)]),
        examples.program(
            "\(name)-widget", uses: commandModules + ["Widgets", "WidgetCommands", .byName(name: shared)]),
    ]
}

let widgetExamples: [Target] =
    [
        examples.module(
            "WidgetCommands", uses: ["Widgets", "GroupContainer", "GroupBytes", "GroupCommandLine", "GroupCommands"]),
        examples.program("readme-example", uses: ["GroupContainer"]),
        examples.program("tour", uses: ["GroupContainer", "Widgets", "GroupSystemCalls"]),
    ]
    + example("todo", "TodoShared")
    + example("note", "NoteShared")
    + example("countdown", "CountdownShared")
    + example("quick-actions", "QuickActionsShared")
    + [
        // Widgets without an app: of a file that any program writes, and of the machine.
        examples.systemLibrary("CLibical"),
        examples.module("Agenda", uses: [.library("CLibical", "ICalendar")]),
        examples.program("agenda-widget", uses: commandModules + ["Widgets", "WidgetCommands", "Agenda"]),
        examples.program("gauges-widget", uses: commandModules + ["Widgets", "WidgetCommands"]),
    ]

let extensionExamples: [Target] = [
    // An app, its share extension, and an action of another app.
    examples.program("bookmarks", uses: commandModules + ["Extensions"]),
    examples.program("bookmarks-share", uses: ["Extensions", "GroupContainer"]),
    examples.program("title-case", uses: ["Extensions"]),

    // A host of photo editing extensions, and one of these.
    examples.systemLibrary("CPhotoPNG"),
    examples.module("PhotoPNG", uses: [.library("CPhotoPNG", "PNG")]),
    examples.program("photos", uses: commandModules + ["Extensions", "ExtensionHosting", "PhotoPNG"]),
    examples.program("photo-light", uses: ["Extensions", "PhotoPNG"]),

    // A host of page scripts, and one of these.
    examples.program("page-host", uses: commandModules + ["Extensions", "ExtensionHosting", "GroupProtocolLines"]),
    examples.program("page-words", uses: ["Extensions", "GroupContainer"]),
]

let serviceExamples: [Target] = [
    // An app with a database, its widget and its share extension.
    examples.module("NotebookShared", uses: ["GroupContainer", "GroupDatabase"]),
    examples.program("notebook", uses: commandModules + ["NotebookShared"]),
    examples.program("notebook-widget", uses: commandModules + ["Widgets", "WidgetCommands", "NotebookShared"]),
    examples.program("notebook-share", uses: ["Extensions", "GroupContainer", "NotebookShared"]),

    // An app whose widget downloads files for it.
    examples.module("MapsShared", uses: ["GroupContainer", "Transfers"]),
    examples.program("maps", uses: commandModules + ["WidgetApp", "MapsShared"]),
    examples.program("maps-widget", uses: ["Widgets", "WidgetCommands", "MapsShared"]),
]

let appleExamples: [Target] = [
    // Code as it stands in apps of Apple's systems, with the language mode that many of them have.
    .executableTarget(
        name: "diary", dependencies: ["AppleFileCoordination", "NotificationCenter"], path: examples.path("diary"),
        swiftSettings: [.swiftLanguageMode(.v5)])
]

// Tests/Support: what tests share. Tests/Programs: what they start.

var support = Directory("Tests/Support")
support.settings += optimized
let supportTargets: [Target] = [
    .target(name: "CTestDefaults", path: support.path("CTestDefaults")),
    // Apart from TestSupport, because what uses that links Foundation and Testing and takes twice as long to start.
    support.module("RawRecords", uses: ["GroupContainer", "GroupLog", "GroupSystemCalls"]),
    support.module(
        "TestSupport", uses: ["CTestDefaults", "CGroupLinux", "GroupSystemCalls", "GroupContainer"],
        exclude: ["server.py"]),
    support.module("TerminalModel", uses: ["GroupTerminal"]),
    support.module("ScenarioKit", uses: ["GroupSystemCalls"]),
    support.tests("ScenarioKitTests", uses: ["ScenarioKit", "TestSupport", "GroupSystemCalls"]),
    support.module("PresenterModel"),
    support.module("EtcdSupport", uses: ["TestSupport", "GroupSystemCalls"]),
    support.module("ClusterSupport", uses: ["TestSupport", "Cluster", "GroupContainer", "GroupSystemCalls"]),
]

let programs = Directory("Tests/Programs")
let programsTargets: [Target] = [
    programs.program(
        "test-member", in: "TestMember",
        uses: ["RawRecords", "GroupContainer", "GroupSystemCalls", "GroupCommandLine", "ScenarioKit"]),
    programs.program(
        "storm-member", in: "StormMember", uses: ["TestSupport", "Widgets", "GroupContainer", "GroupSystemCalls"]),
    programs.program(
        "presenter-storm", in: "PresenterStorm",
        uses: ["PresenterModel", "TestSupport", "GroupContainer", "GroupSystemCalls"]),
    programs.program(
        "crash-worker", in: "CrashWorker", uses: ["RawRecords", "TestSupport", "Widgets", "GroupContainer"]),
    programs.program(
        "bench-worker", in: "BenchWorker",
        uses: ["AppleFileCoordination", "GroupContainer", "GroupLocking", "GroupSystemCalls"]),
    programs.program(
        "test-widget", in: "TestWidget", uses: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls", "Widgets"]),
    programs.program("test-today", in: "TodayProgram", uses: ["GroupTodayView", "GroupSystemCalls"]),
    programs.program(
        "extensions-member", in: "ExtensionsMember", uses: ["GroupContainer", "GroupPasteboard", "Extensions"]),
    programs.program(
        "test-extension", in: "TestExtension",
        uses: ["GroupContainer", "GroupProtocolLines", "GroupSystemCalls", "Extensions"]),
    programs.program("adopted-widget", in: "AdoptedWidgets", uses: ["NotificationCenter", "WidgetKit"]),
    programs.program("database-member", in: "DatabaseMember", uses: ["GroupContainer", "GroupDatabase"]),
    programs.program("secrets-member", in: "SecretsMember", uses: ["GroupSecrets"]),
    .executableTarget(
        name: "library-member", dependencies: ["CGroupInterface", "GroupLibrary"],
        path: programs.path("LibraryMember")),
    programs.program(
        "cluster-bench", in: "ClusterBench", uses: ["Cluster", "GroupContainer", "GroupEtcd", "GroupSystemCalls"]),
    programs.program(
        "cluster-storm", in: "ClusterStorm",
        uses: ["EtcdSupport", "TestSupport", "Cluster", "GroupContainer", "GroupSystemCalls"]),
]

// Tests/Container to Tests/Languages: the tests of the directory of this name in Sources.

let containerTests = Directory("Tests/Container")
let containerTestsTargets: [Target] = [
    containerTests.tests("GroupBytesTests", uses: ["GroupBytes"]),
    containerTests.tests("GroupSystemCallsTests", uses: ["TestSupport", "GroupSystemCalls"]),
    containerTests.tests("GroupLogTests", uses: ["TestSupport", "GroupLog", "GroupBytes", "GroupSystemCalls"]),
    containerTests.tests("GroupLockingTests", uses: ["TestSupport", "GroupLocking", "GroupBytes", "GroupSystemCalls"]),
    containerTests.tests(
        "GroupContainerTests",
        uses: [
            "RawRecords", "TestSupport", "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog", "Widgets",
            "GroupSystemCalls",
        ]),
    containerTests.tests(
        "WatchingTests",
        uses: [
            "TestSupport", "ScenarioKit", "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog",
            "GroupSystemCalls", "groupctl", "watch-group", "test-member",
        ]),
    containerTests.tests(
        "FaultTests",
        uses: [
            "RawRecords", "TestSupport", "ScenarioKit", "PresenterModel", "GroupContainer", "GroupLocking",
            "GroupSystemCalls", "groupctl", "watch-group", "test-member", "storm-member", "presenter-storm",
        ]),
]

let commandsTests = Directory("Tests/Commands")
let commandsTestsTargets: [Target] = [
    commandsTests.tests("GroupCommandLineTests", uses: ["GroupCommandLine", "GroupSystemCalls"]),
    commandsTests.tests(
        "GroupCommandsTests", uses: ["GroupCommands", "GroupCommandLine", "GroupContainer", "watch-group"]),
    commandsTests.tests(
        "TopTests",
        uses: ["TestSupport", "TerminalModel", "GroupTerminal", "GroupContainer", "GroupSystemCalls", "groupctl"]),
    commandsTests.tests(
        "CommandTests",
        uses: [
            "TestSupport", "GroupContainer", "groupctl", "watch-group", "widget-host", "group-share", "group-transfer",
            "group-cluster", "widget-window", "todo", "todo-widget", "readme-example", "test-member",
        ]),
]

let widgetsTests = Directory("Tests/Widgets")
let widgetsTestsTargets: [Target] = [
    widgetsTests.tests(
        "WidgetsTests",
        uses: [
            "TestSupport", "GroupContainerTesting", "GroupProtocolLines", "Widgets", "WidgetApp", "GroupContainer",
            "groupctl", "watch-group", "todo", "todo-widget", "readme-example", "tour", "note", "note-widget",
            "countdown", "countdown-widget", "quick-actions", "quick-actions-widget", "NoteShared",
            "Agenda", "agenda-widget", "gauges-widget",
        ]),
    widgetsTests.tests(
        "GroupWidgetHostingTests",
        uses: [
            "TestSupport", "GroupManifests", "GroupWidgetHosting", "Widgets", "WidgetApp", "GroupContainer",
            "GroupSystemCalls", "widget-host", "test-widget", "groupctl", "todo", "todo-widget", "note", "note-widget",
            "countdown", "countdown-widget", "quick-actions", "quick-actions-widget", "agenda-widget", "gauges-widget",
        ]),
    widgetsTests.tests(
        "GroupTodayViewTests",
        uses: [
            "TestSupport", "TerminalModel", "GroupTodayView", "test-today", "GroupWidgetHosting", "GroupSystemCalls",
        ]),
    widgetsTests.tests("GroupContainerTestingTests", uses: ["GroupContainerTesting", "Widgets", "GroupContainer"]),
]

let extensionsTests = Directory("Tests/Extensions")
let extensionsTestsTargets: [Target] = [
    extensionsTests.tests(
        "ExtensionsTests",
        uses: [
            "TestSupport", "Extensions", "GroupProtocolLines", "GroupContainer", "GroupSystemCalls", "test-extension",
            "extensions-member", "groupctl",
        ]),
    extensionsTests.tests(
        "ExtensionHostingTests", exclude: ["browser.py"],
        uses: [
            "TestSupport", "ExtensionHosting", "Extensions", "GroupManifests", "GroupProtocolLines", "GroupContainer",
            "GroupSystemCalls", "test-extension", "group-share", "groupctl", "bookmarks", "bookmarks-share",
            "title-case", "photos", "photo-light", "PhotoPNG", "page-host", "page-words",
        ]),
    extensionsTests.tests(
        "GroupPasteboardTests",
        uses: [
            "TestSupport", "GroupPasteboard", "Extensions", "GroupContainer", "GroupSystemCalls", "extensions-member",
        ]),
]

let appleTests = Directory("Tests/Apple")
let appleTestsTargets: [Target] = [
    appleTests.tests(
        "AppleFileCoordinationTests",
        uses: [
            "TestSupport", "GroupContainerTesting", "AppleFileCoordination", "GroupContainer", "GroupSystemCalls",
            "groupctl", "watch-group", "widget-host", "test-member", "diary",
        ]),
    appleTests.tests(
        "NotificationCenterTests",
        uses: [
            "TestSupport", "GroupContainerTesting", "NotificationCenter", "Widgets", "GroupContainer",
            "GroupSystemCalls", "widget-host", "groupctl", "adopted-widget",
        ]),
    appleTests.tests(
        "WidgetKitTests",
        uses: [
            "TestSupport", "GroupContainerTesting", "WidgetKit", "Widgets", "GroupContainer", "GroupSystemCalls",
            "widget-host", "groupctl", "adopted-widget",
        ]),
]

let servicesTests = Directory("Tests/Services")
let servicesTestsTargets: [Target] = [
    servicesTests.tests(
        "GroupDatabaseTests",
        uses: [
            "TestSupport", "GroupDatabase", "GroupContainer", "GroupSystemCalls", "database-member", "watch-group",
            "groupctl", "group-share", "notebook", "notebook-widget", "notebook-share",
        ]),
    servicesTests.tests(
        "TransfersTests",
        uses: [
            "TestSupport", "Transfers", "WidgetApp", "GroupContainer", "GroupSystemCalls", "group-transfer", "groupctl",
            "maps", "maps-widget",
        ]),
    servicesTests.tests(
        "GroupSecretsTests", exclude: ["session.conf"],
        uses: [
            "TestSupport", "GroupSecrets", "GroupContainer", "GroupSystemCalls", "secrets-member", "group-transfer",
            "groupctl",
        ]),
]

let clusterTests = Directory("Tests/Cluster")
let clusterTestsTargets: [Target] = [
    clusterTests.tests("GroupClusterTests", uses: ["TestSupport", "GroupCluster"]),
    clusterTests.tests(
        "ClusterLibraryTests",
        uses: [
            "ClusterSupport", "TestSupport", "Cluster", "GroupContainer", "GroupSystemCalls", "group-cluster",
            "groupctl",
        ]),
    clusterTests.tests(
        "GroupEtcdTests", exclude: ["fake.py", "gateway.py"],
        uses: ["EtcdSupport", "TestSupport", "GroupEtcd", "GroupCurl", "GroupSystemCalls"]),
    clusterTests.tests(
        "ClusterTests",
        uses: [
            "EtcdSupport", "TestSupport", "Cluster", "GroupCluster", "GroupContainer", "GroupSystemCalls",
            "group-cluster", "groupctl", "watch-group",
        ]),
]

let languagesTests = Directory("Tests/Languages")
let languagesTestsTargets: [Target] = [
    // Without strict memory safety: what a test does with a C interface is unsafe throughout.
    .testTarget(
        name: "GroupLibraryTests",
        dependencies: [
            "TestSupport", "CGroupInterface", "GroupLibrary", "GroupContainer", "GroupSystemCalls", "groupctl",
            "library-member",
        ],
        path: languagesTests.path("GroupLibraryTests"), swiftSettings: Array(strict.dropFirst())),
    languagesTests.tests(
        "GroupServingTests",
        uses: [
            "TestSupport", "GroupServing", "GroupCommandLine", "GroupContainer", "GroupSystemCalls", "groupctl",
        ]),
]

// Tests/Support/Fuzzers: the decoders, as a test of their corpora; or, for tools/fuzz, as the one program that libFuzzer
// drives.

let decoders: [Target.Dependency] = [
    "GroupContainer", "GroupBytes", "GroupLocking", "GroupLog", "GroupSystemCalls", "GroupProtocolLines", "Widgets",
    "GroupManifests", "GroupWidgetHosting", "GroupTerminal", "GroupTodayView", "GroupCommandLine", "GroupCommands",
    "Extensions",
    "ExtensionHosting", "Transfers", "GroupCluster", "GroupEtcd", "GroupServing", "GroupLibrary", "CGroupInterface",
]
let fuzzers: [Target] = [
    Context.environment["GROUP_CONTAINER_FUZZING"] == nil
        ? .testTarget(
            name: "FuzzTests", dependencies: decoders + ["TestSupport"], path: support.path("Fuzzers"),
            exclude: ["Corpora", "README.md", "Entry.swift"], swiftSettings: strict)
        : .executableTarget(
            name: "fuzz-decoders", dependencies: decoders, path: support.path("Fuzzers"),
            exclude: ["Corpora", "README.md", "DecoderTests.swift"],
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
]

let package = Package(
    name: "group-container",
    products: [
        .library(name: "GroupContainer", targets: ["GroupContainer"]),
        .executable(name: "watch-group", targets: ["watch-group"]),
        .executable(name: "groupctl", targets: ["groupctl"]),
        .library(name: "Widgets", targets: ["Widgets"]),
        .library(name: "WidgetApp", targets: ["WidgetApp"]),
        .library(name: "GroupContainerTesting", targets: ["GroupContainerTesting"]),
        .executable(name: "widget-host", targets: ["widget-host"]),
        .executable(name: "widget-window", targets: ["widget-window"]),
        .library(name: "Extensions", targets: ["Extensions"]),
        .library(name: "ExtensionHosting", targets: ["ExtensionHosting"]),
        .library(name: "GroupPasteboard", targets: ["GroupPasteboard"]),
        .executable(name: "group-share", targets: ["group-share"]),
        .library(name: "AppleFileCoordination", targets: ["AppleFileCoordination"]),
        .library(name: "NotificationCenter", targets: ["NotificationCenter"]),
        .library(name: "WidgetKit", targets: ["WidgetKit"]),
        .library(name: "GroupDatabase", targets: ["GroupDatabase"]),
        .library(name: "GroupSecrets", targets: ["GroupSecrets"]),
        .library(name: "Transfers", targets: ["Transfers"]),
        .executable(name: "group-transfer", targets: ["group-transfer"]),
        .library(name: "Cluster", targets: ["Cluster"]),
        .executable(name: "group-cluster", targets: ["group-cluster"]),
    ],
    // Off by default, so that a plain `swift build` needs nothing but the toolchain. tools/ builds with all of them.
    traits: [
        .trait(
            name: "InotifyTools",
            description: """
                Receive inotify events through libinotifytools (libinotifytools0-dev), which is GPL-2 only; without it, \
                from the kernel.
                """),
        .trait(name: "SQLite", description: "GroupDatabase, and the state of group-cluster (libsqlite3-dev)."),
        .trait(
            name: "Curl", description: "HTTP of group-transfer and group-cluster (libcurl4-openssl-dev, libssl-dev)."),
        .trait(name: "Secrets", description: "GroupSecrets, and secrets in transfers (libsecret-1-dev)."),
        .trait(name: "PNG", description: "Pictures in the example photos (libpng-dev)."),
        .trait(name: "ICalendar", description: "The example agenda-widget (libical-dev)."),
        .trait(name: "GTK", description: "The window of widget-window (libgtk-4-dev)."),
    ],
    targets: containerTargets + renamedTargets + commandsTargets + widgetsTargets + extensionsTargets + appleTargets
        + servicesTargets + clusterTargets + languagesTargets + widgetExamples + extensionExamples + serviceExamples
        + appleExamples
        + supportTargets
        + programsTargets + containerTestsTargets + commandsTestsTargets + widgetsTestsTargets + extensionsTestsTargets
        + appleTestsTargets + servicesTestsTargets + clusterTestsTargets + languagesTestsTargets + fuzzers,
    swiftLanguageModes: [.v6]
)

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
