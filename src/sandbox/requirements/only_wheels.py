"""Runs pip so that it cannot run anything else.

`--only-binary :all:` holds for what pip chooses, not for a source archive or a repository that a wheel names by its
address: building that would run a stranger's code outside of every sandbox. Installing wheels needs no other program.
"""

import runpy
import sys

STARTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.Popen"}
# Asked by pip's own tags on some builds for macOS; the code is pip's, not a package's.
MAC_VERSION = ["-sS", "-c", "import platform; print(platform.mac_ver()[0])"]


def refuse(event, arguments):
    """Ends what would start a program; cannot be undone."""
    if event not in STARTS:
        return
    if event == "subprocess.Popen" and list(arguments[1]) == [sys.executable, *MAC_VERSION]:
        return
    raise PermissionError("only wheels are installed, and something here would have to be built")


sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
