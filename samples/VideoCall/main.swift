print("a call")
