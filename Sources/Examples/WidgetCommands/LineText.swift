import GroupContainer
package import FoundationEssentials
package import Widgets

extension WidgetView.Line {
    /// Returns the line as plain text, with the time left of its countdown.
    package func described(at now: Date) -> String {
        guard let countdown else { return plainText }
        let left = TimeText.countdown(to: countdown.nanoseconds, at: now.nanoseconds).text
        return plainText.isEmpty ? left : "\(plainText) \(left)"
    }
}
