/// The one place where the version is written; commands, documents and checks read it here.
public enum GroupContainerVersion {
    /// Of this package: semantic versioning.
    public static let package = "0.1.0"
    /// Of what lies on the disk, in `.group/format`. A newer one is refused with `CoordinationError.Code.newerFormat`.
    public static let format = 1
}
