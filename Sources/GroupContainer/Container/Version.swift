/// The one place where the version is written; commands, documents and checks read it here.
public enum GroupContainerVersion {
    /// Of this package: semantic versioning.
    public static let package = "0.1.0"
    /// Of what lies on the disk, in `.group/format`. Another one is refused: with `CoordinationError.Code.newerFormat`,
    /// or with `olderFormat`, as no version before 1.0 reads what an earlier one wrote.
    public static let format = 2
}
