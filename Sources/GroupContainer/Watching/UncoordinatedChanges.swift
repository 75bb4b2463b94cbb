extension Container {
    /// Placeholder.
    public func watchUncoordinatedChanges() throws(CoordinationError) {}
    /// Placeholder.
    public func noteUncoordinatedChanges() throws(CoordinationError) {}
}
