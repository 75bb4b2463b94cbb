package import GroupContainer

/// A trait without which a program can do nothing: a C library that the package is built with only if the trait is on.
package enum PackageTrait: String, Sendable {
    case curl = "Curl"
    case sqlite = "SQLite"
    case png = "PNG"
    case iCalendar = "ICalendar"
    case gtk = "GTK"

    /// Whether this program was built with the trait.
    package var isEnabled: Bool {
        switch self {
        case .curl:
            #if Curl
            true
            #else
            false
            #endif
        case .sqlite:
            #if SQLite
            true
            #else
            false
            #endif
        case .png:
            #if PNG
            true
            #else
            false
            #endif
        case .iCalendar:
            #if ICalendar
            true
            #else
            false
            #endif
        case .gtk:
            #if GTK
            true
            #else
            false
            #endif
        }
    }

    /// The Debian packages that a build with the trait needs.
    package var debianPackages: [String] {
        switch self {
        case .curl: ["libcurl4-openssl-dev", "libssl-dev"]
        case .sqlite: ["libsqlite3-dev"]
        case .png: ["libpng-dev"]
        case .iCalendar: ["libical-dev"]
        case .gtk: ["libgtk-4-dev"]
        }
    }

    /// Returns the error of a program that needs traits, and was built without some of them; nil if it has all.
    package static func missing(of needed: [PackageTrait]) -> CoordinationError? {
        let missing = needed.filter { !$0.isEnabled }
        if missing.isEmpty { return nil }
        let traits = missing.map(\.rawValue).joined(separator: ",")
        let packages = missing.flatMap(\.debianPackages).joined(separator: " ")
        return CoordinationError(
            .unavailable, operation: "start",
            reason: "this program was built without the package trait\(missing.count == 1 ? "" : "s") \(traits)",
            remedy: .ofCommand("install \(packages), and build it with swift build --traits \(traits)"))
    }
}
