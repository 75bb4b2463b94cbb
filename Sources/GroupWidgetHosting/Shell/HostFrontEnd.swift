/// Who shows what a host has, and hears what people want: lines, or a view in a terminal.
package protocol HostFrontEnd: ~Copyable {
    /// What the host is to wait for on its behalf; nil: nothing, or nothing any more.
    var input: Int32? { get }

    /// Where its reader is behind: a round is due once there is room again. Nil: nothing is left to be written.
    var blockedOutput: Int32? { get }

    /// It can be read without waiting. Throwing ends the host.
    mutating func readInput() throws -> [HostEvent]

    /// Until it wants to be told that time has passed, in nanoseconds; nil: it does not.
    func wait(at now: Moment) -> Int64?

    /// After each round: what changed is to be seen now. What it wants then.
    mutating func finishRound(_ today: TodayModel, at now: Moment) throws -> [HostEvent]

    /// It looks different.
    mutating func redraw(_ panel: Panel, at now: Moment) throws

    /// There are other panels, or in another order.
    mutating func rearrange(_ today: TodayModel, at now: Moment) throws

    mutating func log(_ line: HostLogLine, at now: Moment) throws

    /// The size of its window is another one.
    mutating func resize() throws

    /// A widget's process has been started.
    mutating func started(_ run: WidgetRun, processIdentifier: Int32) throws

    /// What was said, as it was said.
    mutating func traffic(_ run: WidgetRun, isFromWidget: Bool, _ line: [UInt8]) throws
}
