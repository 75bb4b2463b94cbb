package import GroupContainer
import Widgets

extension Container {
    /// Returns the container that the program has chosen, else that of the host that started this process. Errors:
    /// `notFound` if there is neither; as those of `Container(path:)`.
    package static func chosen(
        _ container: Container?, for operation: String, advice: String
    ) throws(CoordinationError) -> Container {
        if let container { return container }
        if let container = try ofWidgetHost() { return container }
        throw .missingContainer(for: operation, advice)
    }
}

extension CoordinationError {
    /// Returns the error for an operation on the container of a process that has none.
    fileprivate static func missingContainer(for operation: String, _ advice: String) -> CoordinationError {
        CoordinationError(
            .notFound, operation: operation,
            reason: "the program has chosen no container, and was not started by a widget host, which chooses one",
            remedy: Remedy(Remedy.Code(rawValue: "chooseContainer"), "open the container, and \(advice)"))
    }
}
