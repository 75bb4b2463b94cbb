import TestSupport
import Testing

/// A class of an app as a widget's process, under widget-host.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A hosted Today widget` {
    private let hosted: HostedWidget

    init() throws {
        hosted = try HostedWidget("today", program: "adopted-widget", ["today"], interests: ["Library/today.txt"])
    }

    @Test func `a hosted Today widget shows each change, and nothing while it has no content`() throws {
        try hosted.waitUntilShown("nothing")
        _ = try hosted.container.groupctl("write", "Library/today.txt", input: "milk")
        try hosted.waitUntilShown("milk")
        #expect(try hosted.run("adopted-widget", "hide").status == 0)
        try hosted.waitUntilShown("")
    }

    @Test func `a hosted Today widget without interests shows a key that is set`() throws {
        let hosted = try HostedWidget("theme", program: "adopted-widget", ["theme"], interests: nil)
        try hosted.waitUntilShown("none")
        for theme in ["dark", "light"] {
            _ = try hosted.run("groupctl", "defaults", "set", hosted.container.path, "settings", "theme", theme)
            try hosted.waitUntilShown(theme)
        }
    }

    @Test func `the log of the host reports a timer, and a widget that nothing updates`() throws {
        let ticking = try HostedWidget("ticking", program: "adopted-widget", ["ticking"], interests: ["none"])
        try ticking.waitUntilShown("appears")
        try ticking.waitForText("TickingWidget has scheduled a timer, and no timer fires in a widget")
        let theme = try HostedWidget("theme", program: "adopted-widget", ["theme"], interests: nil)
        try theme.waitForText("ThemeWidget updates nothing: it has no widgetPerformUpdate(completionHandler:)")
    }

    @Test func `the host reports a manifest whose interests are not those of the program`() throws {
        let hosted = try HostedWidget("theme", program: "adopted-widget", ["theme"], interests: ["Library/none"])
        try hosted.waitForText(
            "the interests of its program count, which are not those of its manifest: write no \"interests\" there")
        try hosted.waitUntilShown("none")
        _ = try hosted.run("groupctl", "defaults", "set", hosted.container.path, "settings", "theme", "dark")
        try hosted.waitUntilShown("dark")
    }

    @Test func `a hosted Today widget is updated when its countdown is over`() throws {
        try HostedWidget("countdown", program: "adopted-widget", ["countdown"], interests: ["none"])
            .waitUntilShown("over")
    }

    @Test func `a hosted Today widget is updated every interval, also where it looks the same`() throws {
        try HostedWidget("patient", program: "adopted-widget", ["patient"], interests: ["none"])
            .waitUntilShown("third")
    }

    @Test func `a controller without a host and a container reports the error on standard error`() throws {
        let (status, text) = try RunningProcess(
            ["adopted-widget", "hide"], input: "", environment: ["GROUP_CONTAINER": nil]
        ).finish()
        #expect(status == 0)
        #expect(
            text == """
                adopted-widget: cannot set whether a widget has content: the program has chosen no container, and was \
                not started by a widget host, which chooses one; open the container, and pass it: NCWidgetController(container)

                """)
    }
}
