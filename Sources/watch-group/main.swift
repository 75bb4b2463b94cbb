import ContainerCommands

CommandRun.main(watchGroupSpecification) { run in
    let watch = try Watch(&run)
    if let command = watch.options.command {
        var loop = CommandLoop(watch, command)
        return try loop.run(&run)
    }
    var stream = LineStream(watch)
    return try stream.run(&run)
}
