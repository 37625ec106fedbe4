"""`python -m hubbub` is the command `hubbub`."""

from hubbub.cli.main import run

if __name__ == "__main__":
    run()
