import subprocess

import speak

# It stays in the group of its parent.
subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
speak.serve()
