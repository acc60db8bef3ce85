import speak


def initialize(request):
    speak.send(id=request["id"], result={"protocol": 1, "name": "broken", "hooks": ["after"]})


speak.serve(initialize=initialize)
