import sys

import speak


def judge(request):
    for _ in range(100):
        sys.stdout.write("x" * 1024 * 1024)
    speak.passed(request)


speak.serve(judge)
