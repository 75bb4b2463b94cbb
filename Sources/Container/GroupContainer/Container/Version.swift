/// The only place where the version is written; commands, documents and checks read it here.
public enum GroupContainerVersion {
    /// The version of this package. Before 1.0, each minor version may change the API and the format on the disk.
    public static let package = "0.3.0"
    /// The version of the format on the disk, in `.group/format`. Another version is refused with
    /// `CoordinationError.Code.newerFormat` or with `olderFormat`: no version before 1.0 reads what an earlier one
    /// wrote.
    public static let format = 3
}
