extension CoordinationError {
    /// What the caller or the machine's user can do about an error, in terms of the library and of the system.
    ///
    /// A remedy is a code with a sentence, and not an enum: the sentence names items, paths and limits that a case's
    /// name cannot, and versions to come may add codes. A text that begins with the state, such as "nothing was
    /// changed", describes what the call left behind. No text names a command or an option: a program replaces the
    /// text with its own words by `code`, as `groupctl` does.
    public struct Remedy: Hashable, Sendable, CustomStringConvertible {
        /// A code for `switch` statements.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name that `--json` prints.
            public let rawValue: String
            /// Creates a code of another version, or of a module above this one, from its name.
            public init(rawValue: String) { self.rawValue = rawValue }
        }

        /// The kind of remedy.
        public var code: Code
        /// What to do, as the last part of the error's sentence.
        public var text: String
        /// The process that the remedy is about, if a signal of this process reaches it.
        public var process: Int32?

        /// Creates a remedy.
        public init(_ code: Code, _ text: String, process: Int32? = nil) {
            self.code = code
            self.text = text
            self.process = process
        }

        /// The text.
        public var description: String { text }

        static let tryAgain = Remedy(.tryAgain, "try again")
        static let readAgain = Remedy(.readAgain, "read it again")
        static let useAccess = Remedy(.useAccess, "use the access only within its closure")
        static let recurse = Remedy(.recurse, "pass `recursively: true`")
        static let listenAgain = Remedy(.listenAgain, "create the listener again")
        static let createContainer = Remedy(
            .createContainer, "create the container first, or open it with `creating: true`")
        static let update = Remedy(.update, "nothing was changed; use a newer version of this program")
        static let checkDisk = Remedy(.checkDisk, "check the disk")
        static let openInChild = Remedy(.reopen, "open the container in the child process")
        static let useLocalFileSystem = Remedy(
            .changeFileSystem, "put the container on a local file system: ext4, xfs, btrfs, tmpfs")
    }
}

extension CoordinationError.Remedy.Code {
    // MARK: The request

    /// Make the request again.
    public static let tryAgain = Self(rawValue: "tryAgain")
    /// Read the item or the value again, and decide again.
    public static let readAgain = Self(rawValue: "readAgain")
    /// Make the request smaller, or several of it.
    public static let reduceSize = Self(rawValue: "reduceSize")
    /// Name the item in the request, with the intent that the call needs.
    public static let nameInRequest = Self(rawValue: "nameInRequest")
    /// Use an access only in its closure, and instead of a nested request.
    public static let useAccess = Self(rawValue: "useAccess")
    /// Release the locks that are held, or name all items in one request.
    public static let releaseLocks = Self(rawValue: "releaseLocks")
    /// Make the change in another transaction.
    public static let useAnotherTransaction = Self(rawValue: "useAnotherTransaction")
    /// Pass `replacing: true`.
    public static let replace = Self(rawValue: "replace")
    /// Pass `adopting: true`.
    public static let adoptContents = Self(rawValue: "adoptContents")
    /// Pass `recursively: true`.
    public static let recurse = Self(rawValue: "recurse")
    /// Remove the contents of a directory first.
    public static let emptyDirectory = Self(rawValue: "emptyDirectory")
    /// Handle the named items separately.
    public static let handleSeparately = Self(rawValue: "handleSeparately")
    /// Change the item without coordination.
    public static let changeWithoutCoordination = Self(rawValue: "changeWithoutCoordination")

    // MARK: Names and paths

    /// Check the path: there is no such item or file.
    public static let checkPath = Self(rawValue: "checkPath")
    /// Use another path.
    public static let choosePath = Self(rawValue: "choosePath")
    /// Name the container by its path.
    public static let nameByPath = Self(rawValue: "nameByPath")
    /// Use another listener's name, or wait for the listener's end.
    public static let chooseListener = Self(rawValue: "chooseListener")
    /// Check the name of a Unix group.
    public static let checkUnixGroup = Self(rawValue: "checkUnixGroup")
    /// Set an environment variable.
    public static let setEnvironment = Self(rawValue: "setEnvironment")
    /// Make the directory that the file is to be in.
    public static let makeDirectory = Self(rawValue: "makeDirectory")

    // MARK: The container

    /// Create the container first.
    public static let createContainer = Self(rawValue: "createContainer")
    /// Open the container that the text names.
    public static let openElsewhere = Self(rawValue: "openElsewhere")
    /// Open the container again.
    public static let reopen = Self(rawValue: "reopen")
    /// Finish the interrupted deletion of the container.
    public static let finishDeletion = Self(rawValue: "finishDeletion")
    /// Check the container for damage.
    public static let checkContainer = Self(rawValue: "checkContainer")
    /// Repair the container.
    public static let repairContainer = Self(rawValue: "repairContainer")
    /// Copy the items into a container of the present format.
    public static let migrate = Self(rawValue: "migrate")
    /// Use a newer version of the program, or of the system.
    public static let update = Self(rawValue: "update")
    /// Create the listener again.
    public static let listenAgain = Self(rawValue: "listenAgain")
    /// Acknowledge messages, or remove a listener that does not.
    public static let acknowledge = Self(rawValue: "acknowledge")
    /// Set a first value.
    public static let setValue = Self(rawValue: "setValue")

    /// Close a database, or open it and close it.
    public static let closeDatabase = Self(rawValue: "closeDatabase")
    /// Restore a damaged database from a backup, or recover what can be read.
    public static let restoreDatabase = Self(rawValue: "restoreDatabase")

    // MARK: Processes

    /// End the members that have the container open.
    public static let endMembers = Self(rawValue: "endMembers")
    /// End the process that is in the way, or continue it if it is stopped.
    public static let endProcess = Self(rawValue: "endProcess")
    /// Continue the stopped process, or end it.
    public static let continueProcess = Self(rawValue: "continueProcess")
    /// Wait until other requests of this process are done.
    public static let makeFewerRequests = Self(rawValue: "makeFewerRequests")

    // MARK: Services

    /// Start the program that the text names.
    public static let startProgram = Self(rawValue: "startProgram")
    /// Look at what has stopped a program, and decide how it goes on.
    public static let decide = Self(rawValue: "decide")
    /// Ask later what became of the operation.
    public static let askLater = Self(rawValue: "askLater")

    // MARK: The system

    /// Have the owner give permission.
    public static let askOwner = Self(rawValue: "askOwner")
    /// Have the owner share the container with other users.
    public static let askOwnerToShare = Self(rawValue: "askOwnerToShare")
    /// Free space on the file system, or in the quota.
    public static let freeSpace = Self(rawValue: "freeSpace")
    /// Check the disk.
    public static let checkDisk = Self(rawValue: "checkDisk")
    /// Put the container on another file system.
    public static let changeFileSystem = Self(rawValue: "changeFileSystem")
    /// Unmount what is mounted in the container.
    public static let unmount = Self(rawValue: "unmount")
    /// Mount /proc.
    public static let mountProc = Self(rawValue: "mountProc")
    /// Raise the limit of open files (RLIMIT_NOFILE).
    public static let raiseOpenFiles = Self(rawValue: "raiseOpenFiles")
    /// Raise the limit of inotify instances of a user (fs.inotify.max_user_instances), or end other watchers.
    public static let raiseInotifyInstances = Self(rawValue: "raiseInotifyInstances")
    /// Raise the limit of processes and threads (RLIMIT_NPROC), or of the process's memory (RLIMIT_AS): a thread needs
    /// memory, too.
    public static let raiseProcesses = Self(rawValue: "raiseProcesses")
    /// Free memory, or raise the limit of the process's memory (RLIMIT_AS).
    public static let raiseMemory = Self(rawValue: "raiseMemory")
    /// Raise the limit of file sizes (RLIMIT_FSIZE).
    public static let raiseFileSize = Self(rawValue: "raiseFileSize")
}
