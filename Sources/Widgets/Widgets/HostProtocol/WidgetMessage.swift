/// A message from a widget to its host: one JSON object a line on the widget's standard output.
package enum WidgetMessage: Hashable, Sendable {
    /// The first line: the protocol's version, and the widget's kind. The placeholder is shown until there is a
    /// snapshot. `interests` is what concerns the widget, as the texts of a manifest: everything if the list is empty,
    /// and what the manifest has if it is nil.
    case hello(version: Int, kind: String, placeholder: WidgetView? = nil, interests: [String]? = nil)
    /// The answer to an update: exactly one for each.
    case answer(Answer)
    /// The answer to a press: exactly one for each.
    case pressed(id: Int, PressResult, cause: String? = nil)
    /// The answer to a suspension: the widget has released everything.
    case suspended(id: Int)
    /// A request to open a URL.
    case open(url: String)
    /// A line for the host's log.
    case log(String)

    package struct Answer: Hashable, Sendable {
        /// The number of the update.
        package var id: Int
        package var result: UpdateResult
        /// The timeline to show from now on; also where the result is `noData`, if the host requested it.
        package var timeline: Timeline<WidgetView>?
        /// When to refresh the widget next, where the result is `noData`; nil: as the last timeline has it.
        package var policy: TimelinePolicy?
        /// Why the refresh failed.
        package var cause: String?

        package init(
            id: Int, result: UpdateResult, timeline: Timeline<WidgetView>? = nil, policy: TimelinePolicy? = nil,
            cause: String? = nil
        ) {
            self.id = id
            self.result = result
            self.timeline = timeline
            self.policy = policy
            self.cause = cause
        }
    }

    /// The version of the protocol that this library implements.
    package static let version = 2
}

extension WidgetMessage: Codable {
    private enum Verb: String, Codable {
        case hello, answer, pressed, suspended, open, log
    }

    private enum Field: String, CodingKey {
        case verb = "say"
        case version, kind, placeholder, interests, id, result, timeline, policy, cause, url, text
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        switch try fields.decode(Verb.self, forKey: .verb) {
        case .hello:
            self = .hello(
                version: try fields.decode(Int.self, forKey: .version),
                kind: try fields.decode(String.self, forKey: .kind),
                placeholder: try fields.decodeIfPresent(WidgetView.self, forKey: .placeholder),
                interests: try fields.decodeIfPresent([String].self, forKey: .interests))
        case .answer:
            self = .answer(
                Answer(
                    id: try fields.decode(Int.self, forKey: .id),
                    result: try fields.decode(UpdateResult.self, forKey: .result),
                    timeline: try fields.decodeIfPresent(Timeline<WidgetView>.self, forKey: .timeline),
                    policy: try fields.decodeIfPresent(TimelinePolicy.self, forKey: .policy),
                    cause: try fields.decodeIfPresent(String.self, forKey: .cause)))
        case .pressed:
            self = .pressed(
                id: try fields.decode(Int.self, forKey: .id),
                try fields.decode(PressResult.self, forKey: .result),
                cause: try fields.decodeIfPresent(String.self, forKey: .cause))
        case .suspended: self = .suspended(id: try fields.decode(Int.self, forKey: .id))
        case .open: self = .open(url: try fields.decode(String.self, forKey: .url))
        case .log: self = .log(try fields.decode(String.self, forKey: .text))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        switch self {
        case .hello(let version, let kind, let placeholder, let interests):
            try fields.encode(Verb.hello, forKey: .verb)
            try fields.encode(version, forKey: .version)
            try fields.encode(kind, forKey: .kind)
            try fields.encodeIfPresent(placeholder, forKey: .placeholder)
            try fields.encodeIfPresent(interests, forKey: .interests)
        case .answer(let answer):
            try fields.encode(Verb.answer, forKey: .verb)
            try fields.encode(answer.id, forKey: .id)
            try fields.encode(answer.result, forKey: .result)
            try fields.encodeIfPresent(answer.timeline, forKey: .timeline)
            try fields.encodeIfPresent(answer.policy, forKey: .policy)
            try fields.encodeIfPresent(answer.cause, forKey: .cause)
        case .pressed(let id, let result, let cause):
            try fields.encode(Verb.pressed, forKey: .verb)
            try fields.encode(id, forKey: .id)
            try fields.encode(result, forKey: .result)
            try fields.encodeIfPresent(cause, forKey: .cause)
        case .suspended(let id):
            try fields.encode(Verb.suspended, forKey: .verb)
            try fields.encode(id, forKey: .id)
        case .open(let url):
            try fields.encode(Verb.open, forKey: .verb)
            try fields.encode(url, forKey: .url)
        case .log(let text):
            try fields.encode(Verb.log, forKey: .verb)
            try fields.encode(text, forKey: .text)
        }
    }
}
