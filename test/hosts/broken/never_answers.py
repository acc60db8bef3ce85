import speak

speak.serve(judge=lambda request: None)
