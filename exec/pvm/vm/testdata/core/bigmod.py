s = 0
for a in (2**200 + 7, -2**200 - 7, 5, -5, 0, 2**63, -2**63, 2**5000 + 1, 10**40):
    for b in (2**64, -2**64, 3, -3, 2**130 - 1, 1 - 2**130, 2**63, -2**63, 10**39):
        print(a % b, a // b, divmod(a, b), a * b, a + b, a - b, a & b, a ^ b)
        a2 = a
        a2 %= b
        print(a2, a2 * a2 % 1000003)
try:
    2**70 % 0
except ZeroDivisionError as e:
    print(e)
