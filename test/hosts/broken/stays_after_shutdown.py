import time

import speak

speak.serve(shutdown=False)
time.sleep(600)
