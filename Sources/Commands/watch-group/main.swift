import GroupCommandLine
import GroupCommands

CommandRun.main(watchGroupSpecification) { run in
    if let options = try KeySource.Options(run) { return try watch(KeySource.self, options, &run) }
    return try watch(ItemSource.self, ItemSource.Options(run), &run)
}

func watch<Source: WatchSource>(
    _ source: Source.Type, _ options: Source.Options, _ run: inout CommandRun
) throws -> ExitStatus {
    let watch = try Watch<Source>(options, &run)
    if let command = watch.options.command {
        if let status = CommandStartFailure.check(command, for: run) { return status }
        if watch.options.restarts {
            var loop = RestartLoop(watch, command)
            return try loop.run(&run)
        }
        var loop = CommandLoop(watch, command)
        return try loop.run(&run)
    }
    var stream = LineStream(watch)
    return try stream.run(&run)
}
