import speak

def judge(request:
