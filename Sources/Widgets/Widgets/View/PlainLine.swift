extension WidgetView.Line {
    /// The text for places that have only text: with a mark for a button or toggle, the picture's label, the columns, and
    /// the gauge in percent.
    package var plainText: String {
        let parts = [control?.mark, text.isEmpty ? image?.label : text] + (columns ?? []) + [percent.map { "\($0) %" }]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The gauge in percent; nil where there is none.
    package var percent: Int? {
        gauge.map { $0.isNaN ? 0 : Int((max(0, min(1, $0)) * 100).rounded()) }
    }
}

extension WidgetView.Control {
    /// The mark in front of the text.
    package var mark: String {
        switch isOn {
        case nil: ">"
        case false?: "[ ]"
        case true?: "[x]"
        }
    }

    /// What a press of the control requests: of a toggle, the opposite of what it is.
    package var action: WidgetAction { WidgetAction(id: id, isOn: isOn.map { !$0 }) }
}
