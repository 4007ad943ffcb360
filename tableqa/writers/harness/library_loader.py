"""Loads the scoring in library/ beside this file, for the tasks of this release: `runpy.run_path(...)["benchmark_folder"]`.

A copy of a module of Askew. The package has a name of its own for this folder, so that several releases can be loaded.
"""

import hashlib
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

_LIBRARY = Path(__file__).resolve().with_name("library")
_NAME = f"askew_{hashlib.sha256(str(_LIBRARY).encode()).hexdigest()[:16]}"
if _NAME not in sys.modules:
    _spec = ModuleSpec(_NAME, None, is_package=True)
    _spec.submodule_search_locations = [str(_LIBRARY)]
    sys.modules[_NAME] = module_from_spec(_spec)

benchmark_folder = import_module(f"{_NAME}.scoring.benchmark_folder")
