"""What every test of the repository runs under, wherever it lies: see tests/plugin.py."""

pytest_plugins = ("tests.plugin", "tests.fixtures")
