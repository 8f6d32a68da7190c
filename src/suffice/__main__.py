"""Run the command line as ``python -m suffice``."""

from suffice.cli import main

main()
