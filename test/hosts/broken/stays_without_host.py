import os
import time

import speak




def unknown(request):
    if request["method"] == "shutdown":
        os._exit(0)
    speak.refused(request, "unknown method")


speak.serve(unknown=unknown, shutdown=False)
time.sleep(600)
