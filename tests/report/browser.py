# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the pipe of its DevTools protocol: no package and no port is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

# As root in a container, with the shared memory there is.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--hide-scrollbars", "--renderer-process-limit=1", "--disable-background-networking",
         "--remote-debugging-pipe"]

# Chromium is killed when it is silent for so long: a page that hangs fails the test.
TIMEOUT_S = 120


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. Events that arrive are kept in `events`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        command_read, self.command = os.pipe()
        answer, answer_write = os.pipe()

        def pipes():
            # Copies above 4 first, so that neither stands where the other goes.
            read, write = os.dup(command_read), os.dup(answer_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, "--user-data-dir=" + self.profile, "about:blank"], preexec_fn=pipes, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self.answer = answer
        self.rest = b""
        self.n_commands = 0
        self.session = None
        self.events = []
        page = next(target for target in self.send("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(domain + ".enable")
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
        except (OSError, EOFError):
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        while b"\0" not in self.rest:
            if not select.select([self.answer], [], [], TIMEOUT_S)[0]:
                raise TimeoutError(f"Chromium says nothing for {TIMEOUT_S} s")
            piece = os.read(self.answer, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        """Its result, when it is there."""
        self.n_commands += 1
        message = {"id": self.n_commands, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.n_commands:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def run(self, script):
        """The value of JavaScript, of a promise when it is kept."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def colours(self, scheme):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, width=1280, height=900):
        self.size(width, height)
        self.events = [event for event in self.events if event["method"] != "Page.loadEventFired"]
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def picture(self, path, height=None):
        """Of the whole page, or of its first `height` pixels."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(height or 12000, size["height"]), "scale": 1}
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def print(self, path):
        pdf = base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])
        with open(path, "wb") as file:
            file.write(pdf)
        return pdf

    def complaints(self):
        """What the page asked for beside itself, and what went wrong in it."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if params.get("type") != "Document" and not url.startswith(("data:", "blob:")):
                    found.append("request: " + url[:200])
            elif event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                found.append(json.dumps(params)[:600])
        return found
