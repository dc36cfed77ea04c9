"""Constants, templates and formatting of text, as Python 3.11's string."""

import re as _re
from _pvm import field_name_split as _field_name_split, formatter_parser as _formatter_parser

__all__ = [
    "ascii_letters", "ascii_lowercase", "ascii_uppercase", "capwords", "digits", "hexdigits", "octdigits", "printable",
    "punctuation", "whitespace", "Formatter", "Template",
]

whitespace = " \t\n\r\v\f"
ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    """The words of s with capitals, apart by sep, by one blank without it."""
    return (sep or " ").join([word.capitalize() for word in s.split(sep)])


_none_given = {}


class Template:
    """Text with $name or ${name} where values go, and $$ for $."""

    delimiter = "$"
    idpattern = "(?a:[_a-z][_a-z0-9]*)"
    braceidpattern = None
    flags = _re.IGNORECASE

    def __init_subclass__(cls):
        super().__init_subclass__()
        pattern = cls.__dict__.get("pattern")
        if "pattern" not in cls.__dict__:
            mark, name = _re.escape(cls.delimiter), cls.idpattern
            pattern = (f"{mark}(?:(?P<escaped>{mark})|(?P<named>{name})"
                       f"|{{(?P<braced>{cls.braceidpattern or name})}}|(?P<invalid>))")
        cls.pattern = _re.compile(pattern, cls.flags | _re.VERBOSE)

    def __init__(self, template):
        self.template = template

    def _invalid(self, match):
        before = self.template[:match.start("invalid")]
        lines = before.splitlines(keepends=True)
        column = len(before) - len("".join(lines[:-1])) if lines else 1
        raise ValueError(f"Invalid placeholder in string: line {len(lines) or 1}, col {column}")

    def _unknown(self):
        return ValueError("Unrecognized named group in pattern", self.pattern)

    def _values(self, mapping, named):
        """What the placeholders are looked up in: the keywords first."""
        if mapping is _none_given:
            return named
        if named:
            from collections import ChainMap
            return ChainMap(named, mapping)
        return mapping

    def substitute(self, mapping=_none_given, /, **kws):
        """The text with all placeholders replaced."""
        values = self._values(mapping, kws)

        def replaced(match):
            name = match.group("named") or match.group("braced")
            if name is not None:
                return str(values[name])
            if match.group("escaped") is not None:
                return self.delimiter
            if match.group("invalid") is not None:
                self._invalid(match)
            raise self._unknown()

        return self.pattern.sub(replaced, self.template)

    def safe_substitute(self, mapping=_none_given, /, **kws):
        """The text with those placeholders replaced that have a value."""
        values = self._values(mapping, kws)

        def replaced(match):
            name = match.group("named") or match.group("braced")
            if name is not None:
                try:
                    return str(values[name])
                except KeyError:
                    return match.group()
            if match.group("escaped") is not None:
                return self.delimiter
            if match.group("invalid") is not None:
                return match.group()
            raise self._unknown()

        return self.pattern.sub(replaced, self.template)

    def is_valid(self):
        """Whether substitute would find no placeholder that is malformed."""
        for match in self.pattern.finditer(self.template):
            if match.group("invalid") is not None:
                return False
            if all(match.group(kind) is None for kind in ("named", "braced", "escaped")):
                raise self._unknown()
        return True

    def get_identifiers(self):
        """The names of the placeholders, each once, in the order in which they come."""
        found = []
        for match in self.pattern.finditer(self.template):
            name = match.group("named") or match.group("braced")
            if name is not None and name not in found:
                found.append(name)
            elif name is None and match.group("invalid") is None and match.group("escaped") is None:
                raise self._unknown()
        return found


Template.__init_subclass__()
_re.purge()  # what machines keep has no patterns remembered


class Formatter:
    """str.format in parts that a subclass can replace."""

    def format(self, format_string, /, *args, **kwargs):
        """format_string with its fields replaced."""
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string, args, kwargs):
        """The same with the arguments in a sequence and a mapping."""
        used = set()
        text, _ = self._vformat(format_string, args, kwargs, used, 2)
        self.check_unused_args(used, args, kwargs)
        return text

    def _vformat(self, format_string, args, kwargs, used_args, recursion_depth, auto_arg_index=0):
        if recursion_depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, name, spec, conversion in self.parse(format_string):
            if literal:
                parts.append(literal)
            if name is None:
                continue
            if name == "":
                if auto_arg_index is False:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                name = str(auto_arg_index)
                auto_arg_index += 1
            elif name.isdigit():
                if auto_arg_index:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                auto_arg_index = False
            obj, used = self.get_field(name, args, kwargs)
            used_args.add(used)
            obj = self.convert_field(obj, conversion)
            spec, auto_arg_index = self._vformat(spec, args, kwargs, used_args, recursion_depth - 1, auto_arg_index)
            parts.append(self.format_field(obj, spec))
        return "".join(parts), auto_arg_index

    def get_value(self, key, args, kwargs):
        """The argument of a number or a name."""
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args, args, kwargs):
        """Called at the end with the set of arguments used."""

    def format_field(self, value, format_spec):
        """format() of a field's value."""
        return format(value, format_spec)

    def convert_field(self, value, conversion):
        """What !s, !r or !a makes of a value."""
        if conversion is None:
            return value
        if conversion == "s":
            return str(value)
        if conversion == "r":
            return repr(value)
        if conversion == "a":
            return ascii(value)
        raise ValueError(f"Unknown conversion specifier {conversion!s}")

    def parse(self, format_string):
        """Tuples of literal text, field name, specification and conversion."""
        return _formatter_parser(format_string)

    def get_field(self, field_name, args, kwargs):
        """The value that a field's name leads to, and the argument that it begins with."""
        first, rest = _field_name_split(field_name)
        obj = self.get_value(first, args, kwargs)
        for is_attribute, step in rest:
            obj = getattr(obj, step) if is_attribute else obj[step]
        return obj, first
