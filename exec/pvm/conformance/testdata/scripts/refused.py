# A script that the gate refuses says nothing of the machine.
print(eval("1 + 1"))
