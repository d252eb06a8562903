"""Runs pip so that it takes packages from where the person said, and cannot run anything else.

`--only-binary :all:`, `--no-index` and the person's indexes hold for what pip chooses, not for what a wheel names by its
address: that could be anywhere, and where it is a source archive or a repository, building it would run a stranger's code
outside of every sandbox. Installing wheels needs no other program, and makes none: many a pip writes one wherever the name
leads that the wheel gave it.
"""

import runpy
import sys

from pip._vendor.distlib.scripts import ScriptMaker
from pip._vendor.packaging.requirements import Requirement

STARTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.Popen"}
# Asked by pip's own tags on some builds for macOS; the code is pip's, not a package's.
MAC_VERSION = ["-sS", "-c", "import platform; print(platform.mac_ver()[0])"]


def refuse(event, arguments):
    """Ends what would start a program; cannot be undone."""
    if event not in STARTS:
        return
    if event == "subprocess.Popen" and list(arguments[1]) == [sys.executable, *MAC_VERSION]:
        return
    raise PermissionError("only wheels are installed, and this package must be built from source")


read = Requirement.__init__


def read_name(self, text):
    """Also what wheels require."""
    read(self, text)
    if self.url:
        raise PermissionError(f"{self.name} is required by URL; only names are allowed")


Requirement.__init__ = read_name
ScriptMaker.make_multiple = lambda *_given: []
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
