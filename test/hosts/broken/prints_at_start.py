import speak

print("licences 1.0")
speak.serve()
