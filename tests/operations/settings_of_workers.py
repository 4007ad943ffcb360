"""The settings of a site, and a kind of job that sleeps."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.operations.slow.Slow"]
