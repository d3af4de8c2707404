"""Count phrases that our style rejects, file by file: the counts may only fall.

``python -m tools.prose`` fails if a file has more of them than ``tools/prose.json`` allows, and
lists them. It also fails if a file has fewer, so that they cannot come back: ``python -m
tools.prose --update`` lowers what is allowed. A second level, warnings, has its own counts in
``tools/prose_warnings.json``. Searched are docstrings, strings with a space and comments of Python,
docstrings and comments of Cython, comments of C, Markdown outside code, and the Markdown and
comments of notebooks. A line with the words "prose: ok" is skipped.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "error": Path(__file__).with_name("prose.json"),
    "warning": Path(__file__).with_name("prose_warnings.json"),
}
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", "studies", "tools")
OPT_OUT = "prose: ok"
SUFFIXES = (".py", ".pyi", ".pyx", ".pxd", ".h", ".md", ".ipynb")

ERRORS = {
    "percent": r"\d %|^% (interval|confidence|of)\b",
    "overconfident": r"\b(over|under)-confiden",
    "occurs": r"\b(comes?|came|coming) true\b",
    "apart": r"\b(taken|comes?|kept|told|tell) apart\b",
    "pass": r"\b(one read|two reads)\b",  # prose: ok
    "itself": r"\b(of|by) (itself|themselves)\b",
    "none": r"(?<!there )\b(is|are|was|were) (?-i:none)\b",
    "so many": r"\bso many\b",  # prose: ok
    "except": r"\bbut for\b|\bas good as never\b|\bever more\b",
    "minus": r"\bless (an estimate|its|the part|that of|the smallest|truth|label|predicted|one-hot"
    r"|what|second)\b",
    "beside": r"\bbeside\b",
    "said": r"\bsaid (to|of|by)\b|\b(is|are) said\b|\btold from\b",
    "speaks": r"\b(speaks?|speaking) (against|for|of)\b",
    "sure": r"\b(too|not) (sure|timid)\b|\bhow sure\b",
    "choose": r"\bnothing to choose\b",
    "covers": r"\bholds? (the truth|its target)\b",
    "per": r"\b(one|\d+|fifty|number|rows?|point|score|confidence) a "
    r"(row|class|bin|cell|group|parameter|step)\b",
    "about": r"\bsome (\d|ten\b|two\b|three\b|four\b|fifteen\b|forty\b|tens\b)",
    "n in m": r"\b(one|two|three|four|nine) (\w+ )?in (five|ten|twenty|a hundred)\b",
    "elliptic": r"\bas everywhere\b|\bor nothing\b",
    "people": r"\b(nobody|somebody|whoever)\b|"  # prose: ok
    r"\bthe door\b|\banew\b|\bpiled\b|\bmend(s|ed)?\b",
    "refuse": r"^(?-i:Refuse)\b",
    "least": r"\bof least\b",
    "norm": r"\b(of|in) norms? \d",
    "answers": r"^Answer with\b|\banswers with the\b|\banswers for (each|every|all|the)\b",
}
WARNINGS = {
    "inverted": r"(?:^|[.;] )(?-i:Of) [^.;:,]{3,60},? (is|are|the|it|those|some|[a-z]+ing|`)",
    "american": r"\b(normalis|minimis|maximis|regularis|summaris|generalis|behaviour|colour|tumour"
    r"|centred|licence|optimis(e|er|ing)\b)",
    "dataset": r"\bdata sets?\b",
    "picture": r"\bpictures?\b",
    "noise": r"\bchance alone\b|\bmore than chance\b",
    "bits": r"\bto the bit\b|\bsame bits\b",
    "lens": r"\b(looks?|looked|seen)( at)? through\b",
}
PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE) for name, pattern in (ERRORS | WARNINGS).items()
}

MOST_WORDS = 40
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[^a-z])")
# List items, table cells, headings and doctest prompts begin or end a sentence without a period.
BREAK = re.compile(r"\n\s*\n|\n\s*---+\s*\n|\n\s*(?=[*+-] |\d+\. |#|\||>>> )|\|")
# `must_be` writes "must be" before these, which is no English: "must be given".
NO_RULE = re.compile(
    r"(given|left out|made|named|known|splits|of|ones|one (of )?(a |pairs|one|single))\b"
    r"|one (that|with|without)\b|above 0 in|positive in|different|something (?!else)|the only\b"
)

# What is code is one backtick: `…`, ``…``, :math:`…`.
CODE = re.compile(r"(:\w+:)?(``[^`]+``|`[^`]+`)")
FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
# A string is matched as a whole, so that "#" or "//" inside it starts no comment.
STRING = r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\""""
CYTHON = re.compile(rf'(?P<docstring>""".*?""")|{STRING}|(?P<comment>#[^\n]*)', re.DOTALL)
C = re.compile(rf"{STRING}|(?P<comment>/\*.*?\*/|//[^\n]*)", re.DOTALL)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Text(NamedTuple):
    """A piece of prose, the first and the last line that it stands on, and its kind."""

    words: str
    first: int
    last: int
    kind: str = ""  # "docstring", "page" or "rule", where other checks than the phrases apply


class Hit(NamedTuple):
    """A rejected phrase: its line, the rule and the words around it."""

    line: int
    rule: str
    words: str


@cache
def texts_of(suffix: str, content: str) -> tuple[Text, ...]:
    """Return the prose of a file; both levels ask for it."""
    return tuple(_texts_of(suffix, content))


def _texts_of(suffix: str, content: str) -> Iterator[Text]:
    if suffix == ".md":
        yield from _paragraphs(content)
    elif suffix == ".ipynb":
        yield from _cells(content)
    elif suffix in (".pyx", ".pxd"):
        yield from _scanned(content, CYTHON)
    elif suffix == ".h":
        yield from _scanned(content, C)
    else:
        yield from _strings(ast.parse(content))
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type == tokenize.COMMENT:
                yield Text(token.string.lstrip("# "), token.start[0], token.end[0])


def lines_of(suffix: str, content: str) -> list[str]:
    """Return the lines of a file; of a notebook those of its cells, one after the other."""
    if suffix == ".ipynb":
        return [line for _, source in _sources(content) for line in source.split("\n")]
    return content.splitlines()


def _sources(content: str) -> list[tuple[str, str]]:
    cells = json.loads(content)["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _cells(content: str) -> Iterator[Text]:
    before = 0
    for kind, source in _sources(content):
        texts = _paragraphs(source) if kind == "markdown" else _scanned(source, CYTHON)
        for text in texts:
            yield text._replace(first=text.first + before, last=text.last + before)
        before += source.count("\n") + 1


def _scanned(content: str, pattern: re.Pattern[str]) -> Iterator[Text]:
    for at in pattern.finditer(content):
        if at.lastgroup is not None:
            first = content.count("\n", 0, at.start()) + 1
            words = at[0].strip("\"'#/* ")
            yield Text(words, first, first + at[0].count("\n"), at.lastgroup)


def _paragraphs(content: str) -> Iterator[Text]:
    prose = FENCED.sub(lambda fence: "\n" * fence[0].count("\n"), content)
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", prose):
        yield Text(paragraph, line, line + paragraph.count("\n"), "page")
        line += paragraph.count("\n")


def _strings(tree: ast.Module) -> Iterator[Text]:
    documented = [node for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and node.body]
    starts = [node.body[0].value for node in documented if isinstance(node.body[0], ast.Expr)]
    rules = set(_rules_of_arguments(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        last = node.end_lineno or node.lineno
        if any(node is start for start in starts):
            lines = node.value.splitlines()
            prose = "\n".join(line for line in lines if not line.lstrip().startswith(">>>"))
            yield Text(prose, node.lineno, last, "docstring")
        elif node in rules or " " in node.value:
            yield Text(node.value, node.lineno, last, "rule" if node in rules else "")


def _rules_of_arguments(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what calls of `must_be` say first of the rule."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "must_be":
            for rule in node.args[1:2]:
                yield rule.values[0] if isinstance(rule, ast.JoinedStr) else rule


def sentences(words: str) -> Iterator[str]:
    """Yield the sentences of a text, with code as one backtick."""
    for block in BREAK.split(_without_code(words)):
        for sentence in SENTENCE_END.split(block.strip(" #*+-\n")):
            yield " ".join(sentence.split())


def _without_code(words: str) -> str:
    return CODE.sub("`", words)


def _of_structure(text: Text) -> Iterator[tuple[str, str]]:
    """Yield the rule and the words of what is wrong with a text beyond its phrases."""
    if text.kind == "docstring":
        summary = text.words.strip().partition("\n\n")[0]
        if "?" in _without_code(summary):
            yield "question", " ".join(summary.split())
    if text.kind in ("docstring", "page"):
        for sentence in sentences(_prose_of_sections(text.words)):
            if len(sentence.split()) > MOST_WORDS:
                yield "long", sentence[:80]
    if text.kind == "rule" and NO_RULE.match(text.words):
        yield "must be", text.words


def _prose_of_sections(docstring: str) -> str:
    """Return a docstring in which names of parameters and titles of sections stand alone."""
    lines = docstring.split("\n")
    return "\n".join(
        f"\n{line}\n" if below.startswith("    ") and _indent(below) > _indent(line) else line
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def hits_of(path: Path, level: str = "error") -> list[Hit]:
    """Return what a file has that its level rejects."""
    content = path.read_text("utf-8")
    lines = lines_of(path.suffix, content)
    found = []
    for text in texts_of(path.suffix, content):
        if any(OPT_OUT in line for line in lines[text.first - 1 : text.last]):
            continue
        words = " ".join(_without_code(text.words).split())
        found += [
            Hit(text.first, rule, words[max(0, at.start() - 30) : at.end() + 30])
            for rule in (ERRORS if level == "error" else WARNINGS)
            for at in PATTERNS[rule].finditer(words)
        ]
        if level == "error":
            found += [Hit(text.first, *wrong) for wrong in _of_structure(text)]
    return sorted(found)


def all_hits(root: Path, level: str = "error") -> dict[str, list[Hit]]:
    """Return the rejected phrases of every file that has any."""
    paths = [*root.glob("*.md"), *root.glob("*.py")]
    for folder in FOLDERS:
        paths += [path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    found = {path.relative_to(root).as_posix(): hits_of(path, level) for path in sorted(paths)}
    return {name: hits for name, hits in found.items() if hits}


def lowered(allowed: dict[str, int], counts: Counter[str]) -> dict[str, int]:
    """Return what is allowed from now on: a file that was moved takes its count along."""
    new = {name: many for name, many in counts.items() if name not in allowed}
    freed = sum(many for name, many in allowed.items() if name not in counts)
    kept = {name: min(many, counts[name]) for name, many in allowed.items() if name in counts}
    return dict(sorted((kept | new if sum(new.values()) <= freed else kept).items()))


def check(
    root: Path, file: Path, *, update: bool = False, level: str = "error"
) -> tuple[bool, list[str]]:
    """Return whether every file has as many as it may have, and what there is to say."""
    hits = all_hits(root, level)
    counts = Counter({name: len(found) for name, found in hits.items()})
    allowed: dict[str, int] = json.loads(file.read_text("utf-8"))
    if update:
        allowed = lowered(allowed, counts)
        file.write_text(json.dumps(allowed, indent=1) + "\n", "utf-8")
    report = []
    for name in [name for name, many in counts.items() if many > allowed.get(name, 0)]:
        report += [f"{name}:{hit.line}: {hit.rule}: {hit.words}" for hit in hits[name]]
        report.append(f"{name}: {counts[name]} rejected phrases, {allowed.get(name, 0)} allowed")
    fewer = [name for name, many in allowed.items() if many > counts[name]]
    if fewer:
        names = ", ".join(fewer[:3]) + ", …" * (len(fewer) > 3)
        few = f"Some files have fewer rejected phrases than allowed ({names}):"
        report.append(f"{few} run python -m tools.prose --update.")
    return not report, report


def main(arguments: list[str]) -> int:
    """Check the repository; return the exit code."""
    all_passed = True
    for level, file in ALLOWED.items():
        passed, report = check(ROOT, file, update="--update" in arguments, level=level)
        all_passed = all_passed and passed
        print("\n".join(report) or f"Every file has as many phrases of level {level} as before.")
    return int(not all_passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
