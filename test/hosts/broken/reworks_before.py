import speak


def judge(request):
    speak.send(id=request["id"], result={"kind": "rework", "feedback": "not yet"})


speak.serve(judge, initialize=lambda request: speak.initialized(request, hooks=["before"]), hooks=("before",))
