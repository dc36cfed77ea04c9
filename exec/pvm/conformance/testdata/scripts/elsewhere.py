# Nor does one that imports what no actor has.
import random

print(random.random() < 2)
