package vm

// exceptionRow places one class in the tree.
type exceptionRow struct {
	name   string
	parent string
	field  **Class
}

// exceptionRows lists the tree of builtin exceptions, parents first.
func (b *builtinClasses) exceptionRows() []exceptionRow {
	return []exceptionRow{
		{"BaseException", "", &b.BaseException},
		{"Exception", "BaseException", &b.Exception},
		{"GeneratorExit", "BaseException", &b.GeneratorExit},
		{"KeyboardInterrupt", "BaseException", &b.KeyboardInterrupt},
		{"SystemExit", "BaseException", &b.SystemExit},
		{"DeterminismError", "BaseException", &b.DeterminismError},
		{"BaseExceptionGroup", "BaseException", &b.BaseExceptionGroup},
		{"ArithmeticError", "Exception", &b.ArithmeticError},
		{"FloatingPointError", "ArithmeticError", &b.FloatingPointError},
		{"OverflowError", "ArithmeticError", &b.OverflowError},
		{"ZeroDivisionError", "ArithmeticError", &b.ZeroDivisionError},
		{"AssertionError", "Exception", &b.AssertionError},
		{"AttributeError", "Exception", &b.AttributeError},
		{"BufferError", "Exception", &b.BufferError},
		{"EOFError", "Exception", &b.EOFError},
		{"ImportError", "Exception", &b.ImportError},
		{"ModuleNotFoundError", "ImportError", &b.ModuleNotFoundError},
		{"LookupError", "Exception", &b.LookupError},
		{"IndexError", "LookupError", &b.IndexError},
		{"KeyError", "LookupError", &b.KeyError},
		{"MemoryError", "Exception", &b.MemoryError},
		{"NameError", "Exception", &b.NameError},
		{"UnboundLocalError", "NameError", &b.UnboundLocalError},
		{"OSError", "Exception", &b.OSError},
		{"FileNotFoundError", "OSError", &b.FileNotFoundError},
		{"FileExistsError", "OSError", &b.FileExistsError},
		{"IsADirectoryError", "OSError", &b.IsADirectoryError},
		{"NotADirectoryError", "OSError", &b.NotADirectoryError},
		{"PermissionError", "OSError", &b.PermissionError},
		{"TimeoutError", "OSError", &b.TimeoutError},
		{"BlockingIOError", "OSError", &b.BlockingIOError},
		{"ChildProcessError", "OSError", &b.ChildProcessError},
		{"ConnectionError", "OSError", &b.ConnectionError},
		{"BrokenPipeError", "ConnectionError", &b.BrokenPipeError},
		{"ConnectionAbortedError", "ConnectionError", &b.ConnectionAbortedError},
		{"ConnectionRefusedError", "ConnectionError", &b.ConnectionRefusedError},
		{"ConnectionResetError", "ConnectionError", &b.ConnectionResetError},
		{"InterruptedError", "OSError", &b.InterruptedError},
		{"ProcessLookupError", "OSError", &b.ProcessLookupError},
		{"ReferenceError", "Exception", &b.ReferenceError},
		{"RuntimeError", "Exception", &b.RuntimeError},
		{"NotImplementedError", "RuntimeError", &b.NotImplementedError},
		{"RecursionError", "RuntimeError", &b.RecursionError},
		{"StopAsyncIteration", "Exception", &b.StopAsyncIteration},
		{"StopIteration", "Exception", &b.StopIteration},
		{"SyntaxError", "Exception", &b.SyntaxError},
		{"IndentationError", "SyntaxError", &b.IndentationError},
		{"TabError", "IndentationError", &b.TabError},
		{"SystemError", "Exception", &b.SystemError},
		{"TypeError", "Exception", &b.TypeError},
		{"ValueError", "Exception", &b.ValueError},
		{"UnicodeError", "ValueError", &b.UnicodeError},
		{"UnicodeDecodeError", "UnicodeError", &b.UnicodeDecodeError},
		{"UnicodeEncodeError", "UnicodeError", &b.UnicodeEncodeError},
		{"UnicodeTranslateError", "UnicodeError", &b.UnicodeTranslateError},
		{"Warning", "Exception", &b.Warning},
		{"DeprecationWarning", "Warning", &b.DeprecationWarning},
		{"PendingDeprecationWarning", "Warning", &b.PendingDeprecationWarning},
		{"RuntimeWarning", "Warning", &b.RuntimeWarning},
		{"SyntaxWarning", "Warning", &b.SyntaxWarning},
		{"UserWarning", "Warning", &b.UserWarning},
		{"FutureWarning", "Warning", &b.FutureWarning},
		{"ImportWarning", "Warning", &b.ImportWarning},
		{"UnicodeWarning", "Warning", &b.UnicodeWarning},
		{"BytesWarning", "Warning", &b.BytesWarning},
		{"ResourceWarning", "Warning", &b.ResourceWarning},
		{"EncodingWarning", "Warning", &b.EncodingWarning},
	}
}

// makeExceptionClasses makes the classes; their methods follow in
// defineExceptions.
func (rt *Runtime) makeExceptionClasses() {
	made := map[string]*Class{}
	// Bounded: by the source, once when the runtime is made.
	for _, row := range rt.classes.exceptionRows() {
		parent := rt.classes.object
		if row.parent != "" {
			parent = made[row.parent]
		}
		c := rt.newClass(row.name, KindException, parent)
		c.hasDict = true
		*row.field, made[row.name] = c, c
	}
	both := rt.newClass("ExceptionGroup", KindException, rt.classes.BaseExceptionGroup, rt.classes.Exception)
	both.hasDict = true
	rt.classes.ExceptionGroup = both
}

// publishExceptions puts the classes among the builtins.
func (rt *Runtime) publishExceptions() {
	// Bounded: by the source, once when the runtime is made.
	for _, row := range rt.classes.exceptionRows() {
		rt.builtin(row.name, (*row.field).value())
	}
	rt.builtin("ExceptionGroup", rt.classes.ExceptionGroup.value())
	rt.builtin("EnvironmentError", rt.classes.OSError.value())
	rt.builtin("IOError", rt.classes.OSError.value())
}
