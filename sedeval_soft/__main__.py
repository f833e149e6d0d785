"""`python -m sedeval_soft` is `soft-sed-eval`."""

from sedeval_soft.cli import main

if __name__ == "__main__":
    main()
