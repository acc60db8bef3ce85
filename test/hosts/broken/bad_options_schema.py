import speak

speak.serve(initialize=lambda request: speak.initialized(request, options={"type": "objekt"}))
