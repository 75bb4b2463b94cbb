"""What tools/bench consists of: ours and theirs, alternately in one run. Rows are in rows/, each a module."""
