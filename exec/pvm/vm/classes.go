package vm

// builtinClasses names the classes that the machine itself refers to.
type builtinClasses struct {
	object, type_                                              *Class
	NoneType, ellipsis, NotImplementedType, bool_, int_, float *Class
	str, bytes, bytearray, tuple, list, dict, set, frozenset   *Class
	range_, slice, function, native, method, module, cell      *Class
	generator, coroutine, asyncGenerator                       *Class
	property, staticmethod, classmethod, super                 *Class
	iterator, dictKeys, dictValues, dictItems, mappingProxy    *Class
	member, code, traceback, genericAlias, union               *Class
	enumerate, zip, map_, filter, reversed                     *Class
	setIterator, listReverse, callableIterator                 *Class
	strIterator, asciiIterator                                 *Class
	bytesIterator, byteArrayIterator                           *Class
	iterators                                                  [iterItems + 1]*Class // by the way of iteration
	tableReverse                                               [3]*Class             // of keys, values, items

	BaseException, Exception, GeneratorExit, KeyboardInterrupt, SystemExit                *Class
	BaseExceptionGroup, ExceptionGroup                                                    *Class
	ArithmeticError, AssertionError, AttributeError, BufferError, EOFError                *Class
	FloatingPointError, OverflowError, ZeroDivisionError                                  *Class
	ImportError, ModuleNotFoundError, LookupError, IndexError, KeyError                   *Class
	MemoryError, NameError, UnboundLocalError, OSError, FileNotFoundError                 *Class
	ReferenceError, RuntimeError, NotImplementedError, RecursionError                     *Class
	StopAsyncIteration, StopIteration, SyntaxError, IndentationError, TabError            *Class
	SystemError, TypeError, ValueError, UnicodeError                                      *Class
	UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError                         *Class
	Warning, DeprecationWarning, RuntimeWarning, UserWarning, SyntaxWarning               *Class
	FutureWarning, PendingDeprecationWarning, ImportWarning, UnicodeWarning               *Class
	BytesWarning, ResourceWarning, EncodingWarning                                        *Class
	BlockingIOError, ChildProcessError, ConnectionError, BrokenPipeError                  *Class
	ConnectionAbortedError, ConnectionRefusedError, ConnectionResetError                  *Class
	InterruptedError, ProcessLookupError                                                  *Class
	PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError, TimeoutError *Class
	DeterminismError                                                                      *Class
}
