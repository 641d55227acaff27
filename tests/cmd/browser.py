"""A headless Chromium, driven through chromedriver by the WebDriver protocol
(https://www.w3.org/TR/webdriver2/) with nothing but Python's own library.

    with Browser(folder) as b:
        b.open("page.html")
        b.click("button.more")
        print(b.run("return document.title"))
"""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "Enter": "\ue007",
        "Escape": "\ue00c", "Shift": "\ue008", "Tab": "\ue004"}


def missing():
    """What is not installed; "" when all is there."""
    if not shutil.which("chromedriver"):
        return "chromedriver is not installed"
    return "" if shutil.which("chromium") else "chromium is not installed"


class Browser:
    def __init__(self, folder):
        self.folder = folder
        # It is killed with its temporary files. Its socket among them needs a short path.
        self.temporary = tempfile.mkdtemp(prefix="b.")
        env = {**os.environ, "HOME": folder, "TZ": "UTC", "TMPDIR": self.temporary}
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            env.pop(name, None)
            env.pop(name.upper(), None)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, env=env,
                                       stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.session = None
        for line in self.driver.stdout:
            m = re.search(r"started successfully on port (\d+)", line)
            if m:
                self.base = f"http://127.0.0.1:{m.group(1)}"
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __enter__(self):
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "timeouts": {"script": 240000},
            "goog:chromeOptions": {
                "binary": shutil.which("chromium"),
                "args": FLAGS + [f"--user-data-dir={os.path.join(self.folder, 'profile')}",
                                 "--window-size=1200,900"]},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = answer["sessionId"]
        return self

    def __exit__(self, *error):
        try:
            if self.session:
                self.call("DELETE", "")
        except OSError:
            pass
        finally:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()
            shutil.rmtree(self.temporary, ignore_errors=True)

    def call(self, method, path, body=None):
        url = self.base + (f"/session/{self.session}" if self.session else "") + path
        request = urllib.request.Request(url, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with self.opener.open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + os.path.join(self.folder, path)})
        self.settle()

    def settle(self):
        """Until what was done is drawn: sizes are observed, and pointers told of, once a frame."""
        self.call("POST", "/execute/async", {"script": """const done = arguments[arguments.length - 1];
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))""", "args": []})

    def run(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)",
                        selector)

    def text(self, selector):
        found, = self.texts(selector)
        return found

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        """Into an element; the text that stood there is replaced."""
        # Control and "a", all keys up, Backspace
        self.call("POST", f"/element/{self.find(selector)}/value",
                  {"text": "\ue009a\ue000\ue003" + text})

    def press(self, *keys, shift=False):
        """Keys for the element that has the focus."""
        actions = [{"type": "keyDown", "value": KEYS["Shift"]}] if shift else []
        for key in keys:
            actions += [{"type": t, "value": KEYS.get(key, key)} for t in ("keyDown", "keyUp")]
        if shift:
            actions.append({"type": "keyUp", "value": KEYS["Shift"]})
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def pointer(self, *steps):
        """("move", x, y) to a place of the window, "down", "up"."""
        actions = []
        for step in steps:
            if step == "down" or step == "up":
                actions.append({"type": "pointerDown" if step == "down" else "pointerUp", "button": 0})
            else:
                actions.append({"type": "pointerMove", "duration": 0, "x": round(step[1]),
                                "y": round(step[2])})
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse",
                                                    "parameters": {"pointerType": "mouse"},
                                                    "actions": actions}]})
        self.settle()

    def resize(self, width, height):
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})
        self.settle()

    def scheme(self, name):
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": name}]}})
        self.settle()

    def screenshot(self, path):
        with open(os.path.join(self.folder, path), "wb") as out:
            out.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """What the page's console got: errors of scripts, things that the policy refused."""
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"})]
