/// A message from a host to a widget: one JSON object a line on the widget's standard input.
/// `docs/reference/widget-protocol.md` has the fields.
package enum HostMessage: Hashable, Sendable {
    /// Refresh, and send an answer with this number before `deadline` seconds are over. `shows`: the host has no view
    /// for this environment, or only a view from an earlier host, so an answer other than `failed` has the timeline
    /// even if nothing is new. `reloads`: a reload was requested, so the widget renders also where nothing in the
    /// container changed. `appears`: the widget has become visible, and this process has had no update since.
    case update(
        id: Int, environment: WidgetEnvironment, deadline: Double, shows: Bool, reloads: Bool, appears: Bool = false)
    /// Perform a press, or, if `asks`, only say whether it was performed: an earlier process of the widget got it, and
    /// ended without an answer.
    case press(id: Int, WidgetPress, asks: Bool, deadline: Double)
    /// The widget will be stopped: release its locks, and answer `suspended`.
    case suspend(id: Int)
    /// The suspension is over, whether the process was stopped or not.
    case resume
    /// End. The end of the input means the same.
    case end
}

extension HostMessage: Codable {
    private enum Verb: String, Codable {
        case update, press, suspend, resume, end
    }

    private enum Field: String, CodingKey {
        case verb = "do"
        case id, environment, deadline, shows, reloads, appears, press, control, isOn, asks
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        switch try fields.decode(Verb.self, forKey: .verb) {
        case .update:
            self = .update(
                id: try fields.decode(Int.self, forKey: .id),
                environment: try fields.decode(WidgetEnvironment.self, forKey: .environment),
                deadline: try fields.decode(Double.self, forKey: .deadline),
                shows: try fields.decodeIfPresent(Bool.self, forKey: .shows) ?? false,
                reloads: try fields.decodeIfPresent(Bool.self, forKey: .reloads) ?? false,
                appears: try fields.decodeIfPresent(Bool.self, forKey: .appears) ?? false)
        case .press:
            self = .press(
                id: try fields.decode(Int.self, forKey: .id),
                WidgetPress(
                    name: try fields.decode(String.self, forKey: .press),
                    action: WidgetAction(
                        id: try fields.decode(String.self, forKey: .control),
                        isOn: try fields.decodeIfPresent(Bool.self, forKey: .isOn))),
                asks: try fields.decodeIfPresent(Bool.self, forKey: .asks) ?? false,
                deadline: try fields.decode(Double.self, forKey: .deadline))
        case .suspend: self = .suspend(id: try fields.decode(Int.self, forKey: .id))
        case .resume: self = .resume
        case .end: self = .end
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        switch self {
        case .update(let id, let environment, let deadline, let shows, let reloads, let appears):
            try fields.encode(Verb.update, forKey: .verb)
            try fields.encode(id, forKey: .id)
            try fields.encode(environment, forKey: .environment)
            try fields.encode(deadline, forKey: .deadline)
            try fields.encode(shows, forKey: .shows)
            try fields.encode(reloads, forKey: .reloads)
            try fields.encode(appears, forKey: .appears)
        case .press(let id, let press, let asks, let deadline):
            try fields.encode(Verb.press, forKey: .verb)
            try fields.encode(id, forKey: .id)
            try fields.encode(press.name, forKey: .press)
            try fields.encode(press.action.id, forKey: .control)
            try fields.encodeIfPresent(press.action.isOn, forKey: .isOn)
            try fields.encode(asks, forKey: .asks)
            try fields.encode(deadline, forKey: .deadline)
        case .suspend(let id):
            try fields.encode(Verb.suspend, forKey: .verb)
            try fields.encode(id, forKey: .id)
        case .resume: try fields.encode(Verb.resume, forKey: .verb)
        case .end: try fields.encode(Verb.end, forKey: .verb)
        }
    }
}
