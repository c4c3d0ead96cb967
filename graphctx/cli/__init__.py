"""The command line: one file per command group. Nothing heavy is imported before a command runs."""
