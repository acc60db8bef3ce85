import speak

speak.serve(initialize=lambda request: speak.initialized(request, hooks=["afterwards"]))
