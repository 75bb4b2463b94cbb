public import Extensions
public import FoundationEssentials
import GroupManifests
import GroupSystemCalls

/// The extensions that are installed for a user, and the start of one for a request.
///
///     let host = ExtensionHost()
///     let items = [ExtensionItem(attachments: [.url(url)])]
///     guard let first = host.matching(items, at: .share).first else { … }
///     switch await host.run(first, items) { … }
public struct ExtensionHost: Sendable {
    private let directories: ManifestDirectories<ExtensionManifest>

    /// The result of reading the manifests.
    public struct Installed: Sendable {
        /// The extensions, in the user's order.
        public var extensions: [ExtensionManifest]
        /// Sentences for people about files that are no valid manifests, or are not used because of another one.
        public var faults: [String]
    }

    /// Uses the manifests (`*.json`) of one directory, or, with nil, of `$XDG_CONFIG_HOME/group-extensions` (else
    /// `~/.config/…`) and of `group-extensions` in each of `$XDG_DATA_DIRS` (else `/usr/local/share:/usr/share`). Of
    /// several manifests with one identifier, the first counts.
    public init(directory: String? = nil) { directories = ManifestDirectories(directory) }

    /// The directories of the manifests, the user's own first.
    public var directoryPaths: [String] { directories.paths }

    /// Reads the manifests, and the user's order: the file `order` in the user's own directory has one identifier a
    /// line; extensions that it does not name come after those, by title. System calls: getdents(2), openat2(2),
    /// statx(2), read(2)
    public func installed() -> Installed {
        let found = directories.read()
        let order = ExtensionOrder(userText())
        let sorted = found.manifests.sorted {
            order.isBefore(($0.title, $0.identifier), ($1.title, $1.identifier))
        }
        return Installed(extensions: sorted, faults: (found.errors + found.findings).map(\.description))
    }

    /// The largest size of the file with the order, in bytes.
    private static let largestOrder = 1 << 20

    private func userText() -> String {
        guard let directory = directories.paths.first,
            let file = try? FileDescriptor.open(path: Array("\(directory)/order".utf8), [.reading, .nonBlocking]),
            let status = try? file.status(), status.isRegularFile,
            let text = try? file.readAll(limit: Self.largestOrder)
        else { return "" }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the extensions for a point that take these items, in the user's order. `ExtensionManifest.refusal(of:)`
    /// returns why another one does not. System calls: those of `installed`
    public func matching(_ items: [ExtensionItem], at point: ExtensionPoint) -> [ExtensionManifest] {
        installed().extensions.filter { $0.point == point && $0.refusal(of: items) == nil }
    }

    /// Starts an extension for a request. Its rule is not looked at: the host has done that, or its user wants it all
    /// the same.
    ///
    /// - Parameters:
    ///   - manifest: The extension.
    ///   - items: The input. An attached file must stay readable until the extension was started.
    ///   - deadline: The time for everything: the start, the result, and the end of the process.
    ///   - log: Called with lines for a log: what the extension writes to its standard error, and sends as such; at
    ///     most 1 MiB of a request. On a thread of the request, which waits for its return.
    ///   - open: Called with each URL that the extension wants opened, on that thread.
    /// - Returns: The request, which has a result in any case.
    ///
    /// System calls: pipe2(2), fork(2), execve(2), epoll_pwait2(2), read(2), write(2), kill(2), waitid(2)
    public func begin(
        _ manifest: ExtensionManifest, _ items: [ExtensionItem], deadline: Duration = ExtensionRequest.usualDeadline,
        log: @escaping @Sendable (String) -> Void = { _ in }, open: @escaping @Sendable (URL) -> Void = { _ in }
    ) -> ExtensionRequest {
        ExtensionRequest(
            ExtensionTask(manifest: manifest, items: items, deadline: deadline, log: log, open: open))
    }

    /// Runs an extension, and returns its result: `begin`, then `ExtensionRequest.result()`. The cancellation of the
    /// calling task cancels the request.
    public func run(
        _ manifest: ExtensionManifest, _ items: [ExtensionItem], deadline: Duration = ExtensionRequest.usualDeadline,
        log: @escaping @Sendable (String) -> Void = { _ in }, open: @escaping @Sendable (URL) -> Void = { _ in }
    ) async -> ExtensionResult {
        let request = begin(manifest, items, deadline: deadline, log: log, open: open)
        return await withTaskCancellationHandler {
            await request.result()
        } onCancel: {
            request.cancel()
        }
    }

    /// The blocking form of `run`.
    public var blocking: BlockingExtensionHost { BlockingExtensionHost(host: self) }
}

/// The call of an `ExtensionHost` that waits, in a form that blocks the calling thread.
public struct BlockingExtensionHost: Sendable {
    let host: ExtensionHost

    /// Runs an extension, and returns its result. See `ExtensionHost.begin` for the parameters.
    public func run(
        _ manifest: ExtensionManifest, _ items: [ExtensionItem], deadline: Duration = ExtensionRequest.usualDeadline,
        log: @escaping @Sendable (String) -> Void = { _ in }, open: @escaping @Sendable (URL) -> Void = { _ in }
    ) -> ExtensionResult {
        host.begin(manifest, items, deadline: deadline, log: log, open: open).blocking.result()
    }
}
