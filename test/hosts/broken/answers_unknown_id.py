import speak

speak.serve(judge=lambda request: speak.passed({"id": 4711}))
