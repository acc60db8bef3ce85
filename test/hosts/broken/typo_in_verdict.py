import speak

speak.serve(judge=lambda request: speak.send(id=request["id"], result={"kind": "pass", "aproved": True}))
