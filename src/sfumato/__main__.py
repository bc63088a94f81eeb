"""`python -m sfumato` is the command line."""

from sfumato.cli import main

if __name__ == "__main__":
    main()
