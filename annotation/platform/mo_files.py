"""The .mo files that Django reads, compiled from the .po files. They are not in the repository (docs/translating.md).

A .mo file gets the modification time of its .po file. Any other time, older or newer, means that it was compiled from
another version.
"""

# Standard library only at the top: `./run` imports this before anything is installed.
import os
import sys
from pathlib import Path


def outdated(folder: Path) -> list[Path]:
    """The .po files of a folder `locale/` whose .mo file is missing or was compiled from another version."""
    pairs = [(po, po.with_suffix(".mo")) for po in sorted(folder.glob("*/LC_MESSAGES/*.po"))]
    return [po for po, mo in pairs if not mo.exists() or mo.stat().st_mtime_ns != po.stat().st_mtime_ns]


def compile_outdated(folder: Path) -> list[Path]:
    """Compile the outdated files; returns the .mo files that were written.

    A process that reads one meanwhile gets the previous file or the new one, never a part of it.
    """
    import polib

    compiled = []
    for po in outdated(folder):
        version = po.stat()  # an edit from here on makes the .mo file outdated
        temporary, mo = po.with_suffix(f".{os.getpid()}.mo"), po.with_suffix(".mo")
        try:
            polib.pofile(str(po)).save_as_mofile(str(temporary))
            temporary.chmod(version.st_mode)  # services can read it, with any umask
            os.utime(temporary, ns=(version.st_atime_ns, version.st_mtime_ns))
            temporary.replace(mo)
        finally:
            temporary.unlink(missing_ok=True)
        compiled.append(mo)
    return compiled


if __name__ == "__main__":  # ./run, in the folder of the repository
    try:
        compile_outdated(Path("locale"))
    except OSError as error:  # no permission, or a syntax error with the number of its line
        sys.exit(str(error))
