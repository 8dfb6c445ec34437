"""A headless Chromium to look at pages with: started with two pipes, spoken to in its DevTools protocol.

No driver and no package is needed.  `chromium()` is the path of the browser, or None where there is none.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb", "--disable-background-networking"),
)


def chromium() -> str | None:
    """The path of an installed browser of this family."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page in a browser of its own; a context manager."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self.size = width, height
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        where = f"--user-data-dir={self._profile.name}"
        self._process = subprocess.Popen(
            ["bash", "-c", command, chromium() or "chromium", *_FLAGS, where, "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in, self._rest, self._next = ours_out, ours_in, b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *_: Any) -> None:
        os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self._profile.cleanup()

    # --- the protocol
    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; what the browser says meanwhile is added to `events`."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]  # type: ignore[no-any-return]
            self.events.append(answer)

    def _read(self, seconds: float = 60) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], seconds)[0]:
                raise TimeoutError(f"the browser said nothing for {seconds} s")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]

    # --- what a reader does
    def open(self, path: Path, where: str = "") -> float:
        """Open a file; the seconds until it is interactive, by the browser's own clock.

        `where`: a query or the name of an anchor behind its address, such as "#install".
        """
        self.call("Page.navigate", url=path.resolve().as_uri() + where)
        return self.loaded()

    def loaded(self) -> float:
        """Wait until the page is loaded; the seconds until it was interactive."""
        timing = "performance.getEntriesByType('navigation')[0]"
        for _ in range(600):
            if self.evaluate("document.readyState === 'complete' && location.href !== 'about:blank'"):
                return float(self.evaluate(f"{timing}.domContentLoadedEventEnd")) / 1000
            time.sleep(0.05)
        raise TimeoutError("the page does not load")

    def busy(self) -> float:
        """Processor seconds that the page has taken until now, whatever else runs on the machine."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression; what it throws is raised here."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """A real click on the middle of the first element that the selector finds."""
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, selector: str, key: str) -> None:
        """A key pressed where an element has the focus."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A movement, press, release or wheel of the mouse at a point of the window."""
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def frames(self, count: int = 3) -> None:
        """Wait until so many frames are drawn: what waits to be seen has run then."""
        for _ in range(count):
            self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def type(self, selector: str, words: str) -> None:
        """Click into a field, empty it and type."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).value = ''")
        self.call("Input.insertText", text=words)

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name: str) -> None:
        """Prefer "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """A PNG of what is seen, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self) -> list[str]:
        """Errors of scripts, and requests to anywhere but files and data."""
        notice = []
        for event in self.events:
            parameters = event.get("params", {})
            url = parameters.get("request", {}).get("url", "")
            if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                notice.append(json.dumps(parameters))
            elif url and not url.startswith(("file:", "data:", "about:", "blob:")):
                notice.append(f"asked for {url}")
        return notice
