import CommandLineKit
import ContainerCommands
import GroupContainer

func refresh(_ run: inout CommandRun) throws -> ExitStatus { .noData }
