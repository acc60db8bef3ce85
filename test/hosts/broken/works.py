import speak

speak.serve()
