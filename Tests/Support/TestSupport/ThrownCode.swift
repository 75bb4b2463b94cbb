package import GroupContainer
package import Testing

/// Returns the code of the error that is thrown; nil, and an issue, if none is thrown.
package func code<Answer>(_ location: SourceLocation = #_sourceLocation, of body: () throws -> Answer)
    -> CoordinationError.Code?
{
    #expect(throws: CoordinationError.self, sourceLocation: location) { _ = try body() }?.code
}
