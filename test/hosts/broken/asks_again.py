import speak


def judge(request):
    question = {"id": "sure", "to": "human", "brief": {"prompt": "Sure?"}, "choices": ["yes", "no"]}
    speak.send(id=request["id"], result={"kind": "ask", "questions": [question]})


speak.serve(judge)
