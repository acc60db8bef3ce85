import speak


def judge(request):
    speak.passed(request)
    speak.passed(request)


speak.serve(judge)
