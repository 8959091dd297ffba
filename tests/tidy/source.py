"""A source file as the checks see it: lines, includes, functions, code without comments."""

import re

# Comments, raw strings, strings and character literals; the quote in 1'000 is none of them.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def blank(match):
    """Spaces of the same shape, so that line and column numbers stay true."""
    text = match.group(0)
    if text.startswith("/"):
        return re.sub(r"[^\n]", " ", text)
    return '"' + re.sub(r"[^\n]", " ", text[1:-1]) + '"'


class Source:
    """path: relative to the repository's root, with forward slashes."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.folder = path.split("/")[0]
        self.is_header = path.endswith(".hpp")
        self.is_cpp = path.endswith((".hpp", ".cpp"))
        self._code = None

    @property
    def code(self):
        """The text with comments and literals blanked out."""
        if self._code is None:
            self._code = NOT_CODE.sub(blank, self.text)
        return self._code

    def code_lines(self):
        """Pairs of line number and code."""
        return enumerate(self.code.split("\n"), 1)

    def includes(self):
        """Pairs of line number and included name."""
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)

    def is_excused(self, number, rule):
        """Whether `// <rule>-ok: <reason>` stands on the line or on the one above it."""
        pattern = re.compile(r"//\s*" + rule + r"-ok: \S")
        nearby = self.lines[max(0, number - 2):number]
        return any(pattern.search(line) for line in nearby)

    def functions(self):
        """Triples of name, first line and length of each outermost function body with its head."""
        return list(find_functions(self.code))


NO_FUNCTION = re.compile(
    r"^(if|for|while|switch|catch|else|do|try|namespace|class|struct|enum|union|extern)\b"
    r"|[^=!<>]=[^=]*$")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
ACCESS_LABEL = re.compile(r"^\s*(public|private|protected)\s*$")
BRACED_MEMBER = re.compile(r"\)[^:]*:(?!:).*[\w>]\s*$", re.DOTALL)


def find_functions(code):
    """A heuristic by braces: a block whose head has a parameter list is a function."""
    code = PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), code)
    position, head_start, round_depth = 0, 0, 0
    while position < len(code):
        char = code[position]
        if char in "()":
            round_depth = max(0, round_depth + (1 if char == "(" else -1))
        elif char == "{":
            head = code[head_start:position].lstrip()
            is_function = round_depth == 0 and is_function_head(head)
            is_value = round_depth > 0 or BRACED_MEMBER.search(without_parameters(head))
            if is_function or is_value:
                end = matching_brace(code, position)
                if is_function:
                    first = position - len(head)
                    line = code.count("\n", 0, first) + 1
                    yield head_name(head), line, code.count("\n", first, end) + 1
                    head_start = end + 1
                position = end
            else:
                head_start = position + 1
        elif char in ";}" and round_depth == 0:
            head_start = position + 1
        elif char == ":" and ACCESS_LABEL.match(code[head_start:position]):
            head_start = position + 1
        position += 1


def is_function_head(head):
    head = without_parameters(head)
    head = re.sub(r"^template\s*<[^{;]*?>\s*(?=\w)", "", head)
    head = re.sub(r"\boperator\s*[=<>!+\-*/]+", "operator", head)
    if ")" not in head or NO_FUNCTION.search(head):
        return False
    return not BRACED_MEMBER.search(head) or re.search(
        r"(const|noexcept|override|final|try)\s*$", head) is not None


def without_parameters(head):
    """The head with () for each parameter list, so that default arguments do not confuse."""
    inner = re.compile(r"\((?:[^()]|\(\))+\)")
    while inner.search(head):
        head = inner.sub("()", head)
    return head


def head_name(head):
    match = re.search(r"([\w:~]+)\s*\(", head)
    return match.group(1) if match else "function"


def matching_brace(code, start):
    depth = 0
    for position in range(start, len(code)):
        if code[position] == "{":
            depth += 1
        elif code[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return len(code) - 1
