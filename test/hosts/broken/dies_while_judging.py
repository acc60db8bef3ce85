import os
import sys

import speak


def judge(request):
    print("Segmentation fault, as it were", file=sys.stderr, flush=True)
    os._exit(3)


speak.serve(judge)
