/// The user interface of a host: lines, or a view in a terminal.
package protocol HostFrontEnd: ~Copyable {
    /// The descriptor whose input the host waits for; nil if there is none, or none any more.
    var input: Int32? { get }

    /// The descriptor whose reader is slow: a round is due once there is room again. Nil if nothing is left to write.
    var blockedOutput: Int32? { get }

    /// Reads the input, which is ready, and returns its events. Throwing ends the host.
    mutating func readInput() throws -> [HostEvent]

    /// Returns the time until the front end needs its next round, in nanoseconds; nil if it needs none.
    func wait(at now: Moment) -> Int64?

    /// Shows what changed, after each round, and returns the front end's events.
    mutating func finishRound(_ today: TodayModel, at now: Moment) throws -> [HostEvent]

    /// Draws a panel that looks different.
    mutating func redraw(_ panel: Panel, at now: Moment) throws

    /// Draws other panels, or a new order of panels.
    mutating func rearrange(_ today: TodayModel, at now: Moment) throws

    mutating func log(_ line: HostLogLine, at now: Moment) throws

    /// Adapts to a new size of the window.
    mutating func resize() throws

    /// Reports the start of a widget's process.
    mutating func started(_ run: WidgetRun, processIdentifier: Int32) throws

    /// Reports a line between the host and a widget, unchanged.
    mutating func traffic(_ run: WidgetRun, isFromWidget: Bool, _ line: [UInt8]) throws
}
