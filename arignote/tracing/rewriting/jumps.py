"""`break`, `continue` and `return` as flags, so that every statement has one way in and one way out.

    if c: return a             if c: _ag_result = a
    rest; return b      -->    else: rest; _ag_result = b
                               return _ag.returned(_ag_result)

The rest of a block moves into the branch that does not jump.  Where a branch may jump or not, a flag guards the
rest.  A loop node gets the names of the flags that end it (`_flags`).
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from .plainer import checked

_JUMPS, _LOOPS = (ast.Return, ast.Break, ast.Continue), (ast.For, ast.While)
RESULT, DONE = "_ag_result", "_ag_done"


class _Block(NamedTuple):
    """Statements without jumps; whether they may jump, and whether they certainly do."""

    body: list[ast.stmt]
    may: bool
    must: bool


def without_jumps(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a function with one `return` at its end."""
    jumps = _Jumps()
    if not _has_inner_jumps(body):
        return body
    if not _ends(body):
        at = body[-1]
        body = [*body, ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), at)), at)]
    block = jumps.block(body, None)
    first: list[ast.stmt] = []
    if jumps.has_done:
        first = [_assign(DONE, ast.Constant(False), body[0])]
    result: Any = ast.Call(ast.Attribute(_load("_ag"), "returned", ast.Load()), [_load(RESULT)], [])
    return [*first, *block.body, ast.copy_location(ast.Return(result), body[-1])]


def _has_inner_jumps(body: list[ast.stmt]) -> bool:
    """Whether a statement other than the last is or holds a jump; functions inside have their own."""
    for k, s in enumerate(body):
        if isinstance(s, ast.Return) and k == len(body) - 1:
            continue
        if any(isinstance(n, _JUMPS) or (isinstance(n, _LOOPS) and n.orelse) for n in _own(s)):
            return True
    return False


def _own(s: ast.AST) -> list[ast.AST]:
    """Return a statement and those of its blocks, without those of functions and classes inside it."""
    found, waiting = [], [s]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                waiting += getattr(node, name, ())
    return found


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a block certainly returns or raises."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    return _is_endless(last) or (isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse))


def _is_endless(s: ast.stmt) -> bool:
    """Whether a statement is `while True` without `break`: only `return` ends it."""
    if not isinstance(s, ast.While) or not isinstance(s.test, ast.Constant) or not s.test.value:
        return False
    waiting: list[ast.AST] = list(s.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break):
            return False
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.For, ast.While)):
            waiting += ast.iter_child_nodes(node)
    return True


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr, like: ast.AST) -> Any:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), like)


def _none_of(flags: list[str]) -> ast.expr:
    return ast.Call(ast.Attribute(_load("_ag"), "none_of", ast.Load()), [*map(_load, flags)], [])


class _Loop:
    """The flags of a loop in the making."""

    def __init__(self, number: int) -> None:
        self.broken, self.skipped = f"_ag_broken{number}", f"_ag_skipped{number}"
        self.breaks = self.skips = self.returns = False


class _Jumps:
    def __init__(self) -> None:
        self.has_done = False
        self.loops = 0

    def block(self, body: list[ast.stmt], loop: _Loop | None) -> _Block:
        found: list[ast.stmt] = []
        for k, s in enumerate(body):
            if isinstance(s, _JUMPS):
                return _Block([*found, *self._jump(s, loop)], True, True)
            if isinstance(s, ast.Raise):
                return _Block([*found, s], False, True)
            if isinstance(s, ast.If):
                last = self._branches(s, body[k + 1 :], loop)
            elif isinstance(s, _LOOPS):
                last = self._after_loop(s, body[k + 1 :], loop)
            elif isinstance(s, ast.With):
                inner = self.block(s.body, loop)
                s.body = inner.body
                # It may swallow the error of what it should return.
                last = self._rest([s], _Block([], inner.may, False), body[k + 1 :], loop, s)
            elif isinstance(s, ast.Try):
                last = self._rest([s], self._try(s, loop), body[k + 1 :], loop, s)
            elif isinstance(s, ast.Match):
                last = self._rest([s], self._match(s, loop), body[k + 1 :], loop, s)
            else:
                last = None
                found.append(s)
            if last is not None:
                if last.may or last.must:
                    return _Block([*found, *last.body], last.may, last.must)
                found += last.body
        return _Block(found, False, False)

    def _rest(
        self, found: list[ast.stmt], inner: _Block, rest: list[ast.stmt], loop: _Loop | None, s: ast.stmt
    ) -> _Block:
        """Return a statement and what follows it, behind a test of the flags if it may jump."""
        if not inner.may:
            return _Block(found, False, False)
        return _Block(found, True, True) if inner.must else self._guarded(found, rest, loop, s)

    def _branches(self, s: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> _Block:
        """Return an `if`; where a branch jumps, with the rest of the block, which moves into the other branch."""
        then, other = self.block(s.body, loop), self.block(s.orelse, loop)
        s.body, s.orelse = then.body, other.body
        if then.must and other.must:
            return _Block([s], True, True)
        if then.must and not other.may:
            tail = self.block(rest, loop)
            s.orelse = [*other.body, *tail.body]
            return _Block([s], True, tail.must)
        if other.must and not then.may:
            tail = self.block(rest, loop)
            s.body = [*then.body, *tail.body] or [ast.copy_location(ast.Pass(), s)]
            return _Block([s], True, tail.must)
        return self._rest([s], _Block([], then.may or other.may, False), rest, loop, s)

    def _after_loop(self, s: Any, rest: list[ast.stmt], loop: _Loop | None) -> _Block:
        """Return a loop; if it may return, what follows stands behind a test.  Its `else` follows it, too."""
        endless, otherwise = _is_endless(s), s.orelse
        inner, before = self._loop(s)
        if loop is not None and (inner.returns or endless):
            loop.returns = True
        if otherwise and inner.breaks:
            guarded = ast.copy_location(ast.If(_none_of([inner.broken]), otherwise, []), otherwise[0])
            otherwise = checked(guarded) or [guarded]
        after = _Block([], inner.returns or endless, endless)
        if not otherwise or endless:
            return self._rest([*before, s], after, rest, loop, s)
        rest = [*otherwise, *rest]
        tail = self._guarded([], rest, loop, s) if after.may else self.block(rest, loop)
        return _Block([*before, s, *tail.body], True, tail.must)

    def _try(self, s: ast.Try, loop: _Loop | None) -> _Block:
        """Rewrite the blocks of a `try`: a jump of the body skips `else`, and one of `finally` takes its place."""
        body = self.block(s.body, loop)
        s.body = body.body
        handlers = [self.block(h.body, loop) for h in s.handlers]
        for handler, block in zip(s.handlers, handlers, strict=True):
            handler.body = block.body
        otherwise = self._rest([], body, s.orelse, loop, s) if body.may else self.block(s.orelse, loop)
        s.orelse = otherwise.body
        final = self._final(s.finalbody, loop)
        s.finalbody = final.body
        may = any(block.may for block in (body, *handlers, otherwise, final))
        ends = body.must or (not body.may and otherwise.must)
        return _Block([], may, final.must or (ends and all(block.must for block in handlers)))

    def _final(self, body: list[ast.stmt], loop: _Loop | None) -> _Block:
        """Rewrite a `finally`: a jump there takes the place of one before it."""
        if not any(isinstance(n, _JUMPS) for s in body for n in _own(s)):
            return self.block(body, loop)
        flags = [DONE] if loop is None else [DONE, loop.broken, loop.skipped]
        self.has_done = True
        if loop is not None:
            loop.breaks = loop.skips = True
        kept, false = [f"{f}_before" for f in flags], ast.Constant(False)
        block = self.block(body, loop)
        jumped = ast.copy_location(ast.If(_none_of(flags), [
            _assign(f, _load(k), body[0]) for f, k in zip(flags, kept, strict=True)
        ], []), body[0])  # fmt: skip
        first = [_assign(k, _load(f), body[0]) for f, k in zip(flags, kept, strict=True)]
        return _Block([*first, *(_assign(f, false, body[0]) for f in flags), *block.body, jumped], True, block.must)

    def _match(self, s: Any, loop: _Loop | None) -> _Block:
        blocks = [self.block(case.body, loop) for case in s.cases]
        for case, block in zip(s.cases, blocks, strict=True):
            case.body = block.body or [ast.copy_location(ast.Pass(), s)]
        last = s.cases[-1]
        whole = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return _Block([], any(b.may for b in blocks), whole and all(b.must for b in blocks))

    def _guarded(self, found: list[ast.stmt], rest: list[ast.stmt], loop: _Loop | None, s: ast.stmt) -> _Block:
        """Return the rest of a block behind a test of the flags."""
        if not rest:
            return _Block(found, True, False)
        tail = self.block(rest, loop)
        flags = [] if loop is None else [loop.broken, loop.skipped]
        self.has_done = True
        if loop is not None:
            loop.breaks = loop.skips = True
        guard = ast.copy_location(ast.If(_none_of([*flags, DONE]), tail.body, []), s)
        return _Block([*found, guard], True, tail.must)

    def _jump(self, s: Any, loop: _Loop | None) -> list[ast.stmt]:
        true = ast.Constant(True)
        if isinstance(s, ast.Return):
            value = s.value if s.value is not None else ast.Constant(None)
            self.has_done = True
            if loop is not None:
                loop.returns = True
            return [_assign(RESULT, value, s), _assign(DONE, true, s)]
        if loop is None:
            return [s]
        if isinstance(s, ast.Break):
            loop.breaks = True
            return [_assign(loop.broken, true, s)]
        loop.skips = True
        return [_assign(loop.skipped, true, s)]

    def _loop(self, s: Any) -> tuple[_Loop, list[ast.stmt]]:
        """Rewrite a loop without its `else`; return it, and the statements before it."""
        self.loops += 1
        loop = _Loop(self.loops)
        block = self.block(s.body, loop)
        false = [_assign(loop.skipped, ast.Constant(False), s)] if loop.skips else []
        s.body = [*false, *block.body] or [ast.copy_location(ast.Pass(), s)]
        s._flags = [loop.broken] * loop.breaks + [DONE] * loop.returns
        before = [_assign(loop.broken, ast.Constant(False), s)] if loop.breaks else []
        s.orelse = []
        return loop, before
