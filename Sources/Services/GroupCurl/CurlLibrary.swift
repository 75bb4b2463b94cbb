#if Curl
import CGroupCurl

/// libcurl as a whole. Library call: curl_global_init
package enum CurlLibrary {
    /// Whether libcurl can be used. The first read of it prepares what the library's threads share: a program reads it
    /// before it starts any thread (libcurl(3), "global constants").
    package static let isPrepared: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
#else
/// libcurl, which this package was built without.
package enum CurlLibrary {
    package static let isPrepared = false
    static let isMissing = "this program was built without the package trait Curl"
}
#endif
