import Widgets

/// The result of a widget's update.
public enum NCUpdateResult: UInt, Sendable {
    /// The widget has something new to show: its view is rendered, and compared with the last one.
    case newData
    /// What the widget shows is unchanged: the last view stays. If there is none for the present display mode and
    /// size, or a reload was requested, the view is rendered all the same.
    case noData
    /// The update failed: the last view stays, with its age, and the update is repeated later.
    case failed
}

extension UpdateResult {
    init(_ result: NCUpdateResult) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}
