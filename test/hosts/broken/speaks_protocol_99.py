import speak

speak.serve(initialize=lambda request: speak.initialized(request, protocol=99))
