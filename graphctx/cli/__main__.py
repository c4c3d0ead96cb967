"""``python -m graphctx.cli``: the command line where its script is not on the path."""

from graphctx.cli.app import main

if __name__ == "__main__":
    main()
