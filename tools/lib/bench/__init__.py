"""The modules of tools/bench, which measures our programs and others in turns, in one run. Each row is a module in rows/."""
