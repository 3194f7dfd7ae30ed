# SPDX-License-Identifier: Apache-2.0
"""pytest -p flextrace.pytest_plugin: a window for each test, called as the test.

With --flextrace for all tests; else the fixture `flextrace_window` for those that ask for it.
"""
import pytest

import flextrace


def pytest_addoption(parser):
    parser.getgroup("flextrace").addoption("--flextrace", action="store_true",
                                           help="record a window for each test, called as the test")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if not item.config.getoption("flextrace"):
        yield
        return
    with flextrace.window(item.nodeid):
        yield


@pytest.fixture
def flextrace_window(request):
    """A window called as the test, from here to the end of the test."""
    if request.config.getoption("flextrace"):
        yield
        return
    with flextrace.window(request.node.nodeid):
        yield
