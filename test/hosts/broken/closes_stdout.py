import os
import sys

import speak


def judge(request):
    os.close(1)
    sys.stdin.read()
    os._exit(0)


speak.serve(judge)
