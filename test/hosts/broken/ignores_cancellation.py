import sys
import time

import speak


def judge(request):
    print("busy", file=sys.stderr, flush=True)
    time.sleep(600)


speak.serve(judge)
