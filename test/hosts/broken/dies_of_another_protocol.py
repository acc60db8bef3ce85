import speak


def initialize(request):
    assert request["params"]["protocol"]["min"] == 1
    speak.initialized(request)


speak.serve(initialize=initialize)
