import TestSupport

/// An authority of certificates for one test, made by openssl(1).
package final class EtcdAuthority: Sendable {
    package static let isPossible = succeeds(["openssl", "version"])

    private let directory: TemporaryDirectory

    package init() throws {
        directory = try TemporaryDirectory()
        try directory.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=authority", "-keyout", "authority.key", "-out", "authority.pem")
    }

    /// The authority's own certificate.
    package var file: String { "\(directory.path)/authority.pem" }

    package func certificate(_ host: String) -> String { "\(directory.path)/\(host).pem" }
    package func key(_ host: String) -> String { "\(directory.path)/\(host).key" }

    /// Makes a certificate for an address.
    package func sign(_ host: String) throws {
        try directory.put(
            "subjectAltName=IP:\(host)\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n",
            at: "\(host).conf")
        try directory.run(
            "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=\(host)", "-keyout", "\(host).key", "-out", "\(host).csr")
        try directory.run(
            "openssl", "x509", "-req", "-in", "\(host).csr", "-CA", "authority.pem", "-CAkey", "authority.key",
            "-CAcreateserial", "-days", "2", "-extfile", "\(host).conf", "-out", "\(host).pem")
    }
}
