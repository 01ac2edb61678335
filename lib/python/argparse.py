"""argparse: options and positional arguments with defaults, types and choices."""
import sys


class ArgumentError(Exception):
    pass


class ArgumentTypeError(Exception):
    pass


SUPPRESS = "==SUPPRESS=="


class HelpFormatter:
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class Namespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __contains__(self, key):
        return key in self.__dict__

    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"Namespace({inner})"


class _Argument:
    def __init__(self, names, action, nargs, const, default, type, choices, required, dest):
        self.names = names
        self.action = action
        self.nargs = nargs
        self.const = const
        self.type = type
        self.choices = choices
        self.required = required
        self.is_option = names[0].startswith("-")
        longs = [n for n in names if n.startswith("--")]
        name = (longs or list(names))[0]
        self.dest = dest if dest is not None else name.lstrip("-").replace("-", "_")
        if default is None and action in ("store_true", "store_false"):
            default = action == "store_false"
        self.default = default

    def convert(self, text):
        if self.type is None:
            value = text
        else:
            value = self.type(text)
        if self.choices is not None and value not in self.choices:
            raise ArgumentError(f"argument {self.names[0]}: invalid choice: {value!r}")
        return value

    def takes(self, left):
        """How many of the arguments that are left it may take, at least and at most."""
        if not self.action == "store" and not self.action == "append":
            return 0, 0
        if self.nargs is None:
            return 1, 1
        if self.nargs == "?":
            return 0, 1
        if self.nargs == "*":
            return 0, left
        if self.nargs == "+":
            return 1, left
        return self.nargs, self.nargs


class _Subparsers:
    def __init__(self, dest, required):
        self.dest, self.required, self.parsers = dest, required, {}

    def add_parser(self, name, *, aliases=(), **kwargs):
        parser = ArgumentParser(**kwargs)
        for one in (name, *aliases):
            self.parsers[one] = parser
        return parser


class ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, **kwargs):
        self.arguments = []
        self.description = description
        self.defaults = {}
        self.subparsers = None

    def add_argument(self, *names, action="store", nargs=None, const=None, default=None, type=None,
                     choices=None, required=False, help=None, metavar=None, dest=None):
        if not isinstance(action, str):
            raise NotImplementedError("argparse: an action that is a class is not implemented")
        self.arguments.append(_Argument(names, action, nargs, const, default, type, choices,
                                        required, dest))
        return self.arguments[-1]

    def add_argument_group(self, *args, **kwargs):
        return self

    def add_mutually_exclusive_group(self, required=False):
        return self

    def add_subparsers(self, *, dest=None, required=False, **kwargs):
        self.subparsers = _Subparsers(dest, required)
        return self.subparsers

    def set_defaults(self, **kwargs):
        self.defaults.update(kwargs)

    def print_help(self, file=None):
        return None

    def error(self, message):
        raise SystemExit(f"error: {message}")

    def _find(self, name):
        for argument in self.arguments:
            if name in argument.names:
                return argument
        return None

    def parse_args(self, args=None, namespace=None):
        result, rest = self.parse_known_args(args, namespace)
        if len(rest) > 0:
            self.error("unrecognized arguments: " + " ".join(rest))
        return result

    def parse_known_args(self, args=None, namespace=None):
        args = list(sys.argv[1:] if args is None else args)
        result = Namespace() if namespace is None else namespace
        for argument in self.arguments:
            if argument.default is not SUPPRESS:
                default = argument.default
                if isinstance(default, str) and argument.type is not None:
                    default = argument.convert(default)
                setattr(result, argument.dest, default)
        for name, value in self.defaults.items():
            setattr(result, name, value)
        seen, words, rest = set(), [], []
        if self.subparsers is not None and self.subparsers.dest is not None:
            setattr(result, self.subparsers.dest, None)
        chosen = False
        i = 0
        while i < len(args):
            if self.subparsers is not None and args[i] in self.subparsers.parsers:
                chosen = True
                if self.subparsers.dest is not None:
                    setattr(result, self.subparsers.dest, args[i])
                parser = self.subparsers.parsers[args[i]]
                rest = rest + parser.parse_known_args(args[i + 1:], result)[1]
                break
            name, eq, inline = args[i].partition("=")
            argument = self._find(name) if name.startswith("-") else None
            i += 1
            if argument is None:
                if args[i - 1].startswith("-") and self._is_word(args[i - 1]):
                    rest.append(args[i - 1])
                else:
                    words.append(args[i - 1])
                continue
            seen.add(argument.dest)
            values = [inline] if eq else []
            least, most = argument.takes(len(args) - i)
            while len(values) < most and i < len(args) and not self._find(args[i].split("=")[0]):
                values.append(args[i])
                i += 1
            if len(values) < least:
                self.error(f"argument {name}: expected {least} argument")
            self._store(result, argument, values)
        if self.subparsers is not None and self.subparsers.required and not chosen:
            self.error("the following arguments are required: " + str(self.subparsers.dest))
        self._store_words(result, words, rest, seen)
        missing = [a.names[0] for a in self.arguments if a.required and a.dest not in seen]
        if missing:
            self.error("the following arguments are required: " + ", ".join(missing))
        return result, rest

    def _is_word(self, text):
        """Not a negative number."""
        return not text[1:2].isdigit() and text != "-"

    def _store_words(self, result, words, rest, seen):
        positional = [a for a in self.arguments if not a.is_option]
        for k, argument in enumerate(positional):
            behind = sum(a.takes(0)[0] for a in positional[k + 1:])
            least, most = argument.takes(len(words))
            n = min(most, max(len(words) - behind, 0))
            if n < least:
                self.error(f"the following arguments are required: {argument.dest}")
            if n > 0 or argument.nargs == "*" and argument.default is None:
                self._store(result, argument, words[:n])
            words = words[n:]
        rest.extend(words)

    def _store(self, result, argument, texts):
        action = argument.action
        if action == "store_true":
            value = True
        elif action == "store_false":
            value = False
        elif action == "store_const":
            value = argument.const
        elif action == "count":
            value = (getattr(result, argument.dest) or 0) + 1
        elif action in ("store", "append"):
            values = [argument.convert(text) for text in texts]
            if argument.nargs is None:
                value = values[0]
            elif argument.nargs == "?":
                value = values[0] if values else argument.const
            else:
                value = values
            if action == "append":
                value = (getattr(result, argument.dest) or []) + [value]
        else:
            raise NotImplementedError(f"argparse: action '{action}' is not implemented")
        setattr(result, argument.dest, value)
