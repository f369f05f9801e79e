#!/usr/bin/python3
"""Opens a page in a headless browser and tells as JSON what is there to be seen.

usage: look_at_page.py BROWSER PAGE FOLDER

For every width and both colour schemes: how wide the page is, what the console said, what was asked for over any
protocol, which text has how little contrast; a screenshot of each goes to FOLDER. Once, at the widest: what the tab
key reaches. Speaks the DevTools protocol over a pipe, so nothing but the browser is needed.
"""

import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

WIDTHS = (1280, 390, 360)
SCHEMES = ("light", "dark")
PATIENCE = 60  # seconds for one answer

# Every element with text of its own: the contrast of the text with what lies behind it (WCAG 2, 1.4.3).
LOOK = r"""
(() => {
  const channel = value => {
    value /= 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  let lowest = {ratio: 99, text: ""};
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join("").trim();
    if (!text || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = parse(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(colour), luminance(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < lowest.ratio) lowest = {ratio, text: text.slice(0, 60)};
  }
  return {
    page_width: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor,
    lowest_contrast: lowest.ratio,
    lowest_contrast_text: lowest.text,
    nameless_pictures: [...document.querySelectorAll("svg, img")].filter(
      picture => !(picture.getAttribute("aria-label") || picture.getAttribute("alt"))).length,
    pictures: document.querySelectorAll("svg").length,
  };
})()
"""

REACHABLE = r"""
[...document.querySelectorAll("a[href], summary, [tabindex='0']")].filter(element => element.checkVisibility()).length
"""
FOCUSED = r"""
(() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const style = getComputedStyle(element);
  element.dataset.visits = Number(element.dataset.visits || 0) + 1;
  return {first: element.dataset.visits === "1", outline: style.outlineStyle !== "none" || style.left === "8px"};
})()
"""


class Browser:
    """A browser at the other end of two pipes; messages are JSON, each ended by a zero byte."""

    def __init__(self, program, profile):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   f"--user-data-dir={profile}", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage"]

        def take_pipes():  # the browser reads descriptor 3 and writes descriptor 4
            spare = [os.dup2(end, 20 + number, inheritable=True) for number, end in enumerate((there_in, there_out))]
            for number, end in enumerate(spare):
                os.dup2(end, 3 + number, inheritable=True)

        self.process = subprocess.Popen(command, preexec_fn=take_pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.read_end, self.write_end = here_in, here_out
        self.rest = b""
        self.number = 0
        self.session = None
        self.events = []

    def receive(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_end], [], [], max(0, until - time.monotonic()))
            block = os.read(self.read_end, 1 << 20) if ready else b""
            if not block:
                sys.exit("look_at_page.py: the browser gave no answer")
            self.rest += block
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"look_at_page.py: {method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"look_at_page.py: {result['exceptionDetails']}")
        return result["result"].get("value")

    def take(self, method):
        """The parameters of the events of that name so far."""
        return [event["params"] for event in self.events if event.get("method") == method]


def complaints(browser):
    """What a console would show in red or yellow, and every exception."""
    found = [entry["entry"]["text"] for entry in browser.take("Log.entryAdded")
             if entry["entry"]["level"] in ("warning", "error")]
    found += [str(call["args"]) for call in browser.take("Runtime.consoleAPICalled")]
    found += [str(thrown["exceptionDetails"]) for thrown in browser.take("Runtime.exceptionThrown")]
    return found


def press_tab(browser):
    for kind in ("rawKeyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)


def keyboard(browser):
    """How many elements can be reached, how many the tab key does reach, and whether each shows that it has."""
    reachable = browser.evaluate(REACHABLE)
    reached, unseen = 0, 0
    for _ in range(reachable + 5):
        press_tab(browser)
        focused = browser.evaluate(FOCUSED)
        if focused is None:
            break
        reached += focused["first"]
        unseen += not focused["outline"]
    return {"reachable": reachable, "reached": reached, "without_outline": unseen}


def main():
    program, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    looks = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                browser.call(f"{domain}.enable")
            for width in WIDTHS:
                for scheme in SCHEMES:
                    browser.events.clear()
                    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                                 mobile=width < 600)
                    browser.call("Emulation.setEmulatedMedia",
                                 features=[{"name": "prefers-color-scheme", "value": scheme}])
                    browser.call("Page.navigate", url=page.as_uri())
                    browser.wait_for("Page.loadEventFired")
                    look = {"width": width, "scheme": scheme, **browser.evaluate(LOOK)}
                    picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
                    look["screenshot"] = str(folder / f"{width}-{scheme}.png")
                    pathlib.Path(look["screenshot"]).write_bytes(base64.b64decode(picture["data"]))
                    browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
                    opened = browser.evaluate(LOOK)
                    look["opened_page_width"] = opened["page_width"]
                    look["opened_lowest_contrast"] = opened["lowest_contrast"]
                    look["opened_lowest_contrast_text"] = opened["lowest_contrast_text"]
                    look["complaints"] = complaints(browser)
                    look["requested"] = [asked["request"]["url"]
                                         for asked in browser.take("Network.requestWillBeSent")]
                    looks.append(look)
            browser.call("Emulation.setDeviceMetricsOverride", width=WIDTHS[0], height=900, deviceScaleFactor=1,
                         mobile=False)
            browser.events.clear()
            browser.call("Page.navigate", url=page.as_uri())
            browser.wait_for("Page.loadEventFired")
            told = {"page": page.as_uri(), "looks": looks, "keyboard": keyboard(browser)}
        finally:
            browser.process.terminate()
            browser.process.wait(PATIENCE)
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
