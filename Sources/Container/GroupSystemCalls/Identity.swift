import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Returns the running kernel's identity, which changes with each boot. Reads /proc/sys/kernel/random/boot_id.
package func bootIdentifier() throws(Errno) -> [UInt8] {
    let file = try FileDescriptor.open(path: Array("/proc/sys/kernel/random/boot_id".utf8), .reading)
    let digits = try file.readAll(limit: 64).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
    return Array(digits.prefix(32))
}

/// Returns this program's name, as ps(1) shows it.
package func programName() -> String { programName(of: "self") }

/// Returns the name of a process's program; "?" where there is no such process.
package func programName(ofProcess process: Int32) -> String { programName(of: "\(process)") }

private func programName(of process: String) -> String {
    guard let file = try? FileDescriptor.open(path: Array("/proc/\(process)/comm".utf8), .reading),
        let name = try? file.readAll(limit: 64)
    else { return "?" }
    return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// Returns the absolute path of this process's program; nil where the kernel does not provide it.
/// System calls: readlinkat(2)
package func programPath() -> [UInt8]? {
    let file = try? FileDescriptor.open(path: Array("/proc/self".utf8), [.pathOnly, .directory])
    return (try? file?.linkTarget(of: Array("exe".utf8))) ?? nil
}

package func processIdentifier() -> Int32 { getpid() }

package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

package func effectiveUser() -> UInt32 { geteuid() }

/// Returns the number of a Unix group, or nil if there is none of that name. Library calls: getgrnam(3); see
/// `clinux_group`
package func groupNumber(named name: String) -> UInt32? {
    var number: UInt32 = 0
    let isKnown = unsafe clinux_group(name, &number, nil, 0)
    return isKnown == 1 ? number : nil
}

/// Returns the name of a Unix group, or nil if there is none of that number. Library calls: getgrgid(3); see
/// `clinux_group`
package func groupName(ofNumber number: UInt32) -> String? {
    var (number, name) = (number, [CChar](repeating: 0, count: 256))
    guard unsafe clinux_group(nil, &number, &name, name.count) == 1 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Ends the process, after the functions that were registered with atexit(3).
package func exitProcess(_ status: Int32) -> Never { exit(status) }

/// Prepares the process of a command; to be called before it opens anything. A limit of file size then is an error of
/// write(2) rather than the end of the process, SIGQUIT ends the process without a backtrace, and standard descriptors
/// that are closed stay unusable, instead of becoming the next file that is opened. System calls: sigaction(2), open(2)
package func prepareProcess() { clinux_prepare_process() }

/// Checks that this process may run a file, as far as its mode shows. System calls: access(2)
package func checkMayExecute(_ path: [UInt8]) throws(Errno) {
    _ = try check { unsafe withCString(path) { unsafe access($0, X_OK) } }
}

/// Returns this machine's name; "unknown" where it has none. System calls: uname(2)
package func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
