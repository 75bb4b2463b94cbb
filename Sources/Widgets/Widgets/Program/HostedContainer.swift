public import GroupContainer
import GroupSystemCalls

extension Container {
    /// Opens the container of the host that started this widget, from the environment; nil where there is no host.
    /// Errors: as those of `Container(path:)`.
    public static func ofWidgetHost() throws(CoordinationError) -> Container? {
        guard let path = environmentValue("GROUP_CONTAINER"), !path.isEmpty else { return nil }
        return try Container(path: path)
    }
}
