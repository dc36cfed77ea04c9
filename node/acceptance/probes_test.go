package acceptance_test

// probes are the tests of this package by the numbers of their rules.
var probes = map[string]func(*probe){
	"E1": e1, "E2": e2, "E3": e3, "E4": e4, "E5": e5, "E6": e6, "E7": e7, "E8": e8,
	"E9": e9, "E10": e10, "E11": e11, "E12": e12, "E13": e13, "E14": e14, "E15": e15, "E16": e16, "E26": e26,
	"R1": r1, "R2": r2, "R3": r3, "R4": r4, "R5": r5, "R6": r6, "R7": r7, "R8": r8, "R9": r9, "R10": r10, "R11": r11, "R12": r12,
	"R13": r13, "R14": r14, "R15": r15, "R16": r16, "R17": r17, "R18": r18, "R19": r19, "R21": r21, "R22": r22, "R23": r23,
	"R24": r24, "R26": r26, "R27": r27,
	"C19": c19, "C21": c21, "C22": c22,
	"W1": w1, "W2": w2, "W3": w3,
}
