"""A headless Chromium over the DevTools protocol, with which tests open, read and operate a page."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from websockets.sync.client import connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
INSTALL = "no Chromium found to open the report in; install it: apt-get install chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
PATIENCE_SECONDS = 300.0


class Page:
    """A tab that records its events."""

    def __init__(self, socket):
        self._socket, self._number = socket, 0
        self.events = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE_SECONDS))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path: pathlib.Path, width=1300, height=1500, dark=False):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.resize(width, height)
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && document.querySelectorAll('section.experiment').length > 0")

    def resize(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.settle()

    def settle(self):
        """Wait until the page is laid out and drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, script):
        """Run a script and return its awaited value."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition):
        begun = time.monotonic()
        while not self.run(condition):
            assert time.monotonic() - begun < PATIENCE_SECONDS, f"timeout: {condition}"
            time.sleep(0.05)
        self.settle()

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.settle()

    def screenshot(self, path, whole=False):
        picture = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    @property
    def complaints(self):
        """Console messages and uncaught exceptions."""
        loud = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self.events if event["method"] in loud]

    @property
    def requests(self):
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


@contextlib.contextmanager
def browser(profile: pathlib.Path):
    """Start a headless Chromium and yield its page."""
    if CHROMIUM is None and os.environ.get("CI"):
        pytest.fail(INSTALL)
    if CHROMIUM is None:
        pytest.skip(INSTALL)
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_address(profile, process), max_size=None) as root:
            root.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
            targets = json.loads(root.recv(timeout=PATIENCE_SECONDS))["result"]["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        port = (profile / "DevToolsActivePort").read_text().split()[0]
        with connect(f"ws://127.0.0.1:{port}/devtools/page/{target}", max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(profile, process):
    """Wait until the browser has written its address, and return it."""
    begun, note = time.monotonic(), profile / "DevToolsActivePort"
    while True:
        lines = note.read_text().split() if note.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        assert process.poll() is None, f"Chromium ended with {process.returncode}"
        assert time.monotonic() - begun < PATIENCE_SECONDS, "timeout: Chromium did not start"
        time.sleep(0.05)
