# Functions of math, which may differ in the last place.
import math

for i in range(1, 60):
    x = i / 7
    print(i, math.sin(x), math.exp(-x), math.log(x), x ** 0.3, f"{math.atan2(x, 3):.9f}")
print(sum(math.sqrt(k) for k in range(1000)), math.fsum([0.1] * 10), math.hypot(3, 4, 12))
