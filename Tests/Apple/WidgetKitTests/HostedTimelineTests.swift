import TestSupport
import Testing

/// A provider of an app as a widget's process, under widget-host.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A hosted timeline` {
    private let hosted: HostedWidget

    init() throws {
        hosted = try HostedWidget("note", program: "adopted-widget", ["note"], interests: ["Library/other.txt"])
    }

    @Test(arguments: ["reload", "reload-all"])
    func `a hosted timeline is made anew when the app requests a reload`(request: String) throws {
        try hosted.waitUntilShown("nothing")
        _ = try hosted.container.groupctl("write", "Library/note.txt", input: "milk")
        #expect(try hosted.run("adopted-widget", "list").text == "note systemSmall\n")
        #expect(try hosted.run("adopted-widget", request).status == 0)
        try hosted.waitUntilShown("milk")
    }

    @Test func `a center without a host and a container reports the error on standard error`() throws {
        for request in ["reload", "reload-all"] {
            let (status, text) = try RunningProcess(
                ["adopted-widget", request], input: "", environment: ["GROUP_CONTAINER": nil]
            ).finish()
            #expect(status == 0)
            #expect(
                text == """
                    adopted-widget: cannot reload timelines: the program has chosen no container, and was not started \
                    by a widget host, which chooses one; open the container, and set WidgetCenter.shared.container

                    """)
        }
    }
}
