import speak


def judge(request):
    print("checking the licences ...")
    speak.passed(request)


speak.serve(judge)
