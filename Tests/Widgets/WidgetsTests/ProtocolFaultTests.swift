import GroupProtocolLines
import Testing

@testable import Widgets

@Suite struct `A malformed message line` {
    @Test(arguments: [
        (
            #"{"say":"answer","id":1,"result":"newData","timeline":{"entries":[{"snapshot":{"lines":[{"text":"a"}]}}]}}"#,
            "timeline.entries[0].snapshot.lines[0].style: it is missing"
        ),
        (#"{"say":"answer","id":"x","result":"newData"}"#, "id: it must be of type Int"),
        (#"{"say":"#, "it is not JSON"),
        (
            #"{"say":"answer","id":1e99,"result":"newData"}"#,
            "a number is too large, or has a fraction where it must be whole"
        ),
    ])
    func `a malformed message line is refused with the field and the reason`(line: String, fault: String) {
        #expect(ProtocolLine.decoded(WidgetMessage.self, from: Array(line.utf8)) == nil)
        #expect(ProtocolLine.fault(WidgetMessage.self, in: Array(line.utf8)) == fault)
    }
}
