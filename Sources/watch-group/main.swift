import GroupCommands

CommandRun.main(watchGroupSpecification) { run in
    if let options = try KeyWatchOptions(run) {
        let watch = try KeyWatch(options, &run)
        if let command = options.command {
            if let status = CommandRefusal.atStart(of: command, for: run) { return status }
            var loop = KeyCommandLoop(watch, command)
            return try loop.run(&run)
        }
        var stream = KeyStream(watch)
        return try stream.run(&run)
    }
    let watch = try Watch(&run)
    if let command = watch.options.command {
        if let status = CommandRefusal.atStart(of: command, for: run) { return status }
        var loop = CommandLoop(watch, command)
        return try loop.run(&run)
    }
    var stream = LineStream(watch)
    return try stream.run(&run)
}
