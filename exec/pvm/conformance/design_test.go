package conformance

import "regexp"

// A design is a difference that the machine is meant to have: methods that differ
// in this way are counted as refused on purpose, and the document says why.
type design struct {
	method string // what the method's name begins with: module.class.method, a regular expression
	answer string // what it says, likewise
	reason string
}

// designs are the differences meant, the first that fits being the reason. What is
// not in it is a difference that fails.
var designs = []design{
	{`test_`, `abort: heap limit exceeded`, "10 MiB of memory, beyond which the call ends (ADR 25)"},
	{`test_long\..*\.test_bit_count`, `abort: out of cycles`, "300 million cycles a method"},
	{`test_`, `ERROR LookupError: unknown encoding`, "codecs other than UTF-8, ASCII and Latin-1: the whitelist has no codecs module"},
	{`test_`, `ERROR AttributeError: (module|type object) '\w+' has no attribute '_[a-z]+`, "names of CPython's inside, which begin with an underscore"},
	{`test_`, `ERROR AttributeError: module 'functools' has no attribute '_CacheInfo'`, "names of CPython's inside, which begin with an underscore"},
	{`test_hmac\.`, `ERROR AttributeError: .* has no attribute '(_init_old|__builtin_constructor_cache)'`, "names of CPython's inside, which begin with an underscore"},
	{`test_typing\.AssertNeverTests\.test_exception`, `ERROR AttributeError`, "names of CPython's inside, which begin with an underscore"},
	{`test_collections\..*\.test_illegal_patma_flags`, `ERROR AttributeError: .*'__flags__'`, "flags of CPython's type objects"},
	{`test_json\.`, `ERROR AttributeError: module 'json' has no attribute '(decoder|encoder|scanner|dump)'`, "json is dumps and loads: no files, no parts of CPython's own coder"},
	{`test_json\.test_(dump|unicode|enum|encode_basestring_ascii|fail)\.`, `(FAIL not equal: '|.*'<' not supported between)`, "json in canonical form: sorted keys, no spaces, no escapes that need not be (resolution 11.48)"},
	{`test_.*\.(test_no_repr|test_func_3|test_bound_method_repr)$`, `FAIL .*( object at|at 0x)`, "an address in a repr"},
	{`test_(float|decimal)\..*\.test_hash(_method)?_nan`, `FAIL not equal: 0`, "the hash of a NaN by its address"},
	{`test_(typing|types)\.`, `(ERROR AttributeError|raised: ImportError): .*\b(IO|ContextManager)'`, "typing's names for files and context managers: the whitelist has neither io nor contextlib"},
	{`test_typing\.IOTests\.`, `raised: ImportError: cannot import name 'IO'`, "typing's names for files and context managers: the whitelist has neither io nor contextlib"},
	{`test_re\.`, `ERROR MemoryError: regular expression needs too much memory`, "memory that backtracking may take"},
	{`test_re\.`, `ERROR AttributeError: 're\.Pattern' object has no attribute 'scanner'`, "re.Pattern.scanner, which is not documented"},
	{`test_re\.`, `ERROR ValueError: chr\(\) arg is a surrogate`, "strings without lone surrogates, in NFC (resolution 11.48)"},
	{`test_format\..*\.test_str_format`, `FAIL '%a' % `, "strings without lone surrogates, in NFC (resolution 11.48)"},
	{`test_(re|builtin)\..*\.(test_keep_buffer|test_bytearray_join_with_misbehaving_iterator)`, `FAIL exception not raised`, "buffers that a bytearray lends: there is no memoryview"},
	{`test_hashlib\..*\.test_algorithms_guaranteed`, `FAIL not equal`, "hashlib has SHA-256 and Keccak-256"},
	{`test_hmac\.`, `(.*unsupported hash type|ERROR AttributeError: module 'hashlib' has no attribute '(md5|sha)\w*')`, "hashlib has SHA-256 and Keccak-256"},
	{`test_collections\..*\.test_odd_sizes`, `ERROR ValueError: .*more than 4096 registers`, "4096 registers a function"},
	{`test_ordered_dict\..*\.(test_dict_delitem|test_dict_pop|test_dict_popitem|test_issue24347)`, `FAIL exception not raised`, "OrderedDict without a second list of keys that could fall out of step with the dict"},
}

// meant is the reason for a difference that is meant.
func meant(method, answer string) (string, bool) {
	for _, d := range designs {
		if begins(d.method, method) && begins(d.answer, answer) {
			return d.reason, true
		}
	}
	return "", false
}

func begins(pattern, text string) bool {
	return regexp.MustCompile("^(?:" + pattern + ")").MatchString(text)
}
