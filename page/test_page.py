#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser:  page/test_page.py SITE COMMAND AXE PICTURES [NAME...]

SITE is the built folder, COMMAND the native command line that answers are compared with, AXE the file axe.min.js, PICTURES a folder for
screenshots. Needs Playwright (PyPI) and Debian's Chromium. Each test is a function test_...; NAMEs choose some of them.
"""

import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse

from playwright.sync_api import sync_playwright

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from compare_programs import disagreement, some_requests  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
PATIENCE = 120_000  # milliseconds; the machine may be busy
TRAINING = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)"


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a browser may leave before its file has arrived


def serve(site):
    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Bench:
    """One browser, the address of the page, and what went wrong in any page."""

    def __init__(self, browser, server, command, axe, pictures):
        self.browser, self.server, self.command, self.axe, self.pictures = browser, server, command, axe, pictures
        self.address = f"http://127.0.0.1:{server.server_address[1]}/"
        self.faults = []

    def open(self, fragment="", *, wait=True, script=None, **options):
        context = self.browser.new_context(accept_downloads=True, **options)
        context.set_default_timeout(PATIENCE)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("request", lambda request: self.note_request(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("console", lambda message: self.note_console(message))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog opened"), dialog.dismiss()))
        page.goto(self.address + fragment)
        if wait:
            settle(page)
        return page

    def note_request(self, url):
        if not url.startswith((self.address, "blob:" + self.address, "data:")):
            self.faults.append(f"a request to {url[:100]}")

    def note_console(self, message):
        if message.type == "error":
            self.faults.append(f"console: {message.text}")

    def native(self, requests):
        """The answers of `tradeoff query` to these requests."""
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([self.command, "query"], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def wait(page, expression):
    """Waits until the expression holds. The policy of the page forbids Playwright's own way, which evaluates text inside the page."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        check(time.monotonic() < end, f"waited in vain for {expression}")
        page.wait_for_timeout(20)


def settle(page):
    """Waits until everything is computed."""
    wait(page, "['Ready', 'No answer', 'Cancelled'].includes(document.getElementById('state').textContent)")


def fragment(plan, delta="1e-5", **more):
    return "#" + urllib.parse.urlencode({"plan": plan, "delta": delta, **more})


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def text(page, selector):
    return page.locator(selector).text_content()


# The answers.


def test_answers_are_those_of_the_native_program(bench):
    """200 plans: each interval equals the native one or overlaps it; both enclose the truth."""
    requests = some_requests(200)
    page = bench.open()
    ours = page.evaluate(
        """async (requests) => {
          const { Engine } = await import("./engine.js");
          const engine = new Engine();
          const answers = [];
          for (const request of requests) answers.push(await engine.ask(request).catch((error) => ({ error: error.message })));
          return answers;
        }""",
        requests,
    )
    equal = refused = 0
    for request, here, there in zip(requests, ours, bench.native(requests), strict=True):
        if "not enough memory in a browser" in here.get("error", ""):
            refused += 1
            continue
        fault = disagreement(here, there)
        check(fault is None, f"{request}: {fault}: {str(here)[:200]} here, {str(there)[:200]} there")
        equal += "answer" in here and here["answer"] == there.get("answer")
    print(f"    {equal} of {len(requests)} equal to the last bit, {refused} refused for lack of memory")
    check(refused == 0, f"{refused} plans need more memory than a page may use")
    longest = max(one.get("milliseconds", 0) for one in ours)
    print(f"    longest {longest:.0f} ms")
    page.context.close()


# Counts the questions that go to the library and notes when the first ε is on the page.
WATCH = """
  window.asked = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message) { if (message.question) window.asked.push(message.question.ask); return post.apply(this, arguments); };
  new MutationObserver((_, observer) => {
    if (!/\\d/.test(document.getElementById("claim")?.textContent ?? "")) return;
    window.first = { milliseconds: performance.now(), asked: window.asked.length };
    observer.disconnect();
  }).observe(document, { subtree: true, childList: true, characterData: true });
"""


def test_first_answer(bench):
    page = bench.open(wait=False, script=WATCH)
    wait(page, "window.first !== undefined")
    first = page.evaluate("window.first")
    print(f"    first answer after {first['milliseconds'] / 1000:.2f} s and {first['asked']} questions; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")
    check(first["asked"] <= 2, f"{first['asked']} questions before the first answer")
    check(first["milliseconds"] < 10000, "the first answer takes long even for a busy machine")
    settle(page)
    check(text(page, "#claim") == "ε ≤ 2.38169", text(page, "#claim"))
    check("between 2.381689" in text(page, "#proof"), text(page, "#proof"))
    check("adding or removing one record" in text(page, "#meaning"), text(page, "#meaning"))
    memory = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0") / 1e6
    print(f"    {memory:.0f} MB of JavaScript")
    page.context.close()


# Asking.


def test_form_makes_the_plan(bench):
    page = bench.open()
    page.fill("#t-noise", "2")
    wait(page, "document.getElementById('plan').value.includes('sigma=2')")
    for name, value in {"examples": "1000", "batch": "100", "epochs": "2"}.items():  # small: a shuffled run takes long to account for
        page.fill(f"#t-{name}", value)
    page.select_option("#t-sampling", "shuffled")
    wait(page, "document.getElementById('plan').value === 'gaussian(sigma=2) | shuffle(batches=10, passes=2)'")
    wait(page, "document.getElementById('meaning').textContent.includes('zeroing out')")
    page.click("#tab-counts")
    wait(page, "document.getElementById('plan').value === 'laplace(scale=5) | repeat(10)'")
    page.click("#tab-promise")
    wait(page, "document.getElementById('plan').value === 'dp(epsilon=1, delta=1e-6) | repeat(12)'")
    settle(page)
    page.context.close()


def test_plan_fills_the_form(bench):
    page = bench.open()
    page.fill("#plan", "gaussian(sigma=0.9) | poisson(rate=100/5000) | repeat(500)")
    wait(page, "document.getElementById('t-noise').value === '0.9'")
    check([page.input_value(f"#t-{name}") for name in ("batch", "examples", "epochs")] == ["100", "5000", "10"], "sizes")
    page.fill("#plan", "laplace(scale=3, sensitivity=2) | repeat(4)")
    wait(page, "document.getElementById('c-scale').value === '3'")
    check(page.get_attribute("#tab-counts", "aria-selected") == "true", "the tab")
    page.fill("#plan", "zcdp(rho=0.1)")
    wait(page, "!document.getElementById('no-form').hidden")
    settle(page)
    page.context.close()


def test_errors_point_at_the_place(bench):
    page = bench.open()
    page.fill("#plan", "gaussian(sigma=1) | poison(rate=0.1)")
    page.wait_for_selector("#plan-fault:not([hidden])")
    fault, pointer = text(page, "#plan-fault p"), text(page, "#plan-fault pre")
    check("poisson" in fault, fault)
    check(pointer.splitlines()[1].index("^") == pointer.splitlines()[0].index("poison"), pointer)
    check(page.get_attribute("#plan", "aria-invalid") == "true", "the plan is marked")
    page.fill("#plan", "gaussian(sigma=1)")
    page.wait_for_selector("#plan-fault", state="hidden")
    page.fill("#delta", "2")
    page.wait_for_selector("#delta[aria-invalid=true]")
    page.fill("#delta", "1e-5")
    settle(page)
    page.click("#tab-training")
    page.fill("#t-batch", "0")
    page.wait_for_selector("#plan-fault:not([hidden])")
    page.context.close()


def test_sliders_answer_while_they_move(bench):
    page = bench.open(script=WATCH)
    page.evaluate("window.asked.length = 0")
    times = page.evaluate(
        """async () => {
          const slider = document.querySelector('[data-for="t-noise"]');
          const claim = document.getElementById("claim");
          const times = [];
          for (let i = 0; i < 12; ++i) {
            const before = claim.textContent;
            slider.value = String(300 + 20 * i);
            const start = performance.now();
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            while (claim.textContent === before && performance.now() - start < 20000) await new Promise((go) => setTimeout(go, 1));
            times.push(performance.now() - start);
            await new Promise((go) => setTimeout(go, 30)); // the slider goes on: no time for the curve
          }
          window.moves = window.asked.filter((one) => one !== "curve").length;
          slider.dispatchEvent(new Event("change", { bubbles: true }));
          return times;
        }"""
    )
    times.sort()
    print(f"    {times[len(times) // 2]:.0f} ms from a move to its answer, at most {times[-1]:.0f} ms; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")
    check(page.evaluate("window.moves") <= len(times) + 2, f"{page.evaluate('window.asked')} for {len(times)} moves")
    check(times[len(times) // 2] < 500, f"slow even for a busy machine: {times}")
    settle(page)
    page.context.close()


def test_cancel(bench):
    page = bench.open()
    page.fill("#plan", "gaussian(sigma=0.3) | allocate(steps=1000000) | repeat(1000)")  # many seconds
    page.wait_for_selector("#cancel:not([hidden])")
    page.click("#cancel")
    wait(page, "document.getElementById('state').textContent === 'Cancelled'")
    page.fill("#plan", "gaussian(sigma=1)")
    wait(page, "document.getElementById('claim').textContent.startsWith('ε ≤ 4.3')")
    settle(page)
    page.context.close()


def test_a_question_has_a_limit_of_time(bench):
    """A question that takes too long is refused, and the next one is answered."""
    page = bench.open()
    found = page.evaluate(
        """async () => {
          const { Engine } = await import("./engine.js");
          const engine = new Engine();
          await engine.ask({ ask: "version" });
          const slow = { ask: "headline", plan: "gaussian(sigma=1.1) | shuffle(batches=235, passes=60)", delta: "1e-5" };
          const kind = await engine.ask(slow, { most: 100 }).then(() => "answered", (error) => error.kind);
          return [kind, (await engine.ask({ ask: "headline", plan: "gaussian(sigma=1)", delta: "1e-5" })).epsilon.claim];
        }"""
    )
    check(found == ["too_slow", "4.37718"], found)
    page.context.close()


def test_up_to_four_plans(bench):
    page = bench.open()
    for noise in ("1.5", "2", "3", "4"):
        if page.is_enabled("#keep"):
            page.click("#keep")
        page.fill("#t-noise", noise)
        wait(page, f"document.getElementById('plan').value.includes('sigma={noise})')")
        settle(page)
    check(page.locator("#kept tr").count() == 4, "four rows")
    check(page.locator("#chart .series").count() == 4, "four curves")
    check(page.is_disabled("#keep"), "no fifth plan")
    address = page.url
    page.screenshot(path=bench.pictures / "four_plans.png", full_page=True)
    again = bench.open(address[len(bench.address):])
    check(again.locator("#kept tr").count() == 4, "the link carries all four")
    again.context.close()
    page.context.close()


def test_chart(bench):
    page = bench.open()
    page.click("[data-view=profile]")
    wait(page, "document.getElementById('chart-title').textContent === 'δ at every ε'")
    page.focus("#chart")
    page.keyboard.press("ArrowRight")
    check(text(page, "#reading").startswith("ε = "), text(page, "#reading"))
    page.click("[data-view=tradeoff]")
    wait(page, "document.getElementById('chart-title').textContent.startsWith('What any')")
    box = page.locator("#chart").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 160, steps=4)
    check("between" in text(page, "#reading") or "exactly" in text(page, "#reading"), text(page, "#reading"))
    page.mouse.up()
    page.keyboard.press("Escape")
    page.context.close()


# Deciding and taking away.


def test_decide(bench):
    page = bench.open()
    page.select_option("#unknown", label="sigma of gaussian")
    page.fill("#target-value", "1")
    page.click("#decide button")
    page.wait_for_selector("#use:not([hidden])")
    solution = text(page, "#solution")
    check(solution.startswith("sigma = 2.0") and "smallest" in solution, solution)
    page.click("#use")
    wait(page, "document.getElementById('claim').textContent === 'ε ≤ 1' || document.getElementById('claim').textContent.startsWith('ε ≤ 0.99')")
    settle(page)
    for target in ("mu", "advantage", "tpr"):
        page.select_option("#target", target)
        page.click("#decide button")
        wait(page, "document.getElementById('solution').textContent.includes('meets')")
        page.evaluate("document.getElementById('solution').textContent = ''")
    page.context.close()


def test_budget_split(bench):
    """All noise of a plan is scaled by one factor; the native program agrees that the plan found meets the target."""
    plan = "gaussian(sigma=2) | repeat(3)\nlaplace(scale=4)"
    page = bench.open(fragment(plan))
    page.select_option("#unknown", label="all noise, in the same proportions")
    page.fill("#target-value", "1")
    page.click("#decide button")
    page.wait_for_selector("#use:not([hidden])")
    check("is missed" in text(page, "#solution"), text(page, "#solution"))
    page.click("#use")
    settle(page)
    found = page.input_value("#plan")
    [answer] = bench.native([{"ask": "epsilon", "delta": "1e-5", "plan": found}])
    check(0.99 < float(answer["answer"]["hi"]) <= 1, f"{found}: {answer}")
    page.context.close()


def test_downloads(bench):
    page = bench.open()
    for name, begin in {
        "statement": b"<!doctype html>",
        "certificate": b"{",
        "svg": b"<svg",
        "png": b"\x89PNG",
        "csv": b"alpha,beta_lo,beta_hi",
    }.items():
        with page.expect_download() as download:
            page.click(f"[data-take={name}]")
        content = pathlib.Path(download.value.path()).read_bytes()
        check(content.lower().startswith(begin.lower()) or begin in content[:400], f"{name}: {content[:80]}")
        (bench.pictures / download.value.suggested_filename).write_bytes(content)
        settle(page)
    certificate = bench.pictures / "certificate.json"
    verdict = subprocess.run([bench.command, "verify", str(certificate)], capture_output=True, text=True)
    check(verdict.returncode == 0, verdict.stdout + verdict.stderr)
    native = subprocess.run([bench.command, "report", "--format", "html", "--delta", "1e-5", TRAINING], capture_output=True, text=True, check=True)
    check("2.38169" in native.stdout and "2.38169" in (bench.pictures / "privacy_statement.html").read_text(), "the same headline")
    command = text(page, "#code-shell")
    check(command == f"tradeoff epsilon --delta 1e-5 '{TRAINING}'", command)
    ran = subprocess.run(["bash", "-c", command.replace("tradeoff", bench.command, 1)], capture_output=True, text=True)
    check("epsilon <= 2.38169" in ran.stdout, ran.stdout + ran.stderr)
    page.context.close()


def test_links(bench):
    plan = "laplace(scale=5) | repeat(10)"
    page = bench.open(fragment(plan, "1e-6", neighbours="replace-one"))
    check(page.input_value("#plan") == plan and page.input_value("#delta") == "1e-6", "the plan of the link")
    check(page.input_value("#neighbours") == "replace-one", "the neighbours of the link")
    check(urllib.parse.parse_qs(page.url.split("#")[1])["plan"] == [plan], page.url)
    page.context.close()


def test_hostile_links(bench):
    hostile = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "gaussian(sigma=1) </textarea><script>alert(1)</script>",
        '"></pre><svg onload=alert(1)>',
        "(" * 3000 + "gaussian(sigma=1)" + ")" * 3000,
        "group(" * 500,
        "gaussian(sigma=1) | repeat(" + "9" * 4000 + ")",
        "gaussian(sigma=1e-400)",
        "\x00ask\x00version\x00",
        "mixture([(0.5, " * 200,
    ]
    for plan in hostile:
        page = bench.open(fragment(plan))
        check(page.locator("script").count() == 1, "a script was added")
        check(page.locator("img").count() == 0, "an image was added")
        page.context.close()
    for raw in ("#" + "A" * 2_000_000, "#plan=" + "A" * 1_000_000, "#plan=%E0%A4%A&delta=%", "#with=[[[&plan=gaussian(sigma=1)", "#plan=gaussian(sigma=1)&delta=" + "9" * 5000):
        page = bench.open(raw)
        page.context.close()


# Everywhere.


def test_offline(bench):
    page = bench.open()
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    wait(page, "navigator.serviceWorker.controller !== null")
    page.context.set_offline(True)
    page.reload()
    settle(page)
    check(text(page, "#claim") == "ε ≤ 2.38169", text(page, "#claim"))
    page.fill("#t-noise", "1.3")
    wait(page, "document.getElementById('claim').textContent !== 'ε ≤ 2.38169'")
    bench.faults = [fault for fault in bench.faults if "ERR_INTERNET_DISCONNECTED" not in fault]
    page.context.close()


def test_no_other_host(bench):
    policy = (pathlib.Path(bench.server.RequestHandlerClass.keywords["directory"]) / "index.html").read_text()
    check("default-src 'none'" in policy and "http://" not in policy and "https://" not in policy, "the content security policy")
    page = bench.open()
    refused = page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    check(refused == "refused", "a request to another host was sent")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.broken = 1' }))")
    check(page.evaluate("window.broken === undefined"), "a script inside the page is allowed")
    bench.faults = [fault for fault in bench.faults if "example.org" not in fault and "Content Security Policy" not in fault]
    page.context.close()


def test_three_widths_with_pictures(bench):
    for name, width, height in (("phone", 360, 740), ("tablet", 820, 1100), ("desktop", 1440, 900)):
        for scheme in ("light", "dark"):
            page = bench.open(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1)
            wide = page.evaluate("document.documentElement.scrollWidth")
            check(wide <= width, f"{name}: the page is {wide} wide")
            page.screenshot(path=bench.pictures / f"{name}_{scheme}.png", full_page=True)
            page.context.close()
    page = bench.open(viewport={"width": 1000, "height": 900})
    page.pdf(path=bench.pictures / "print.pdf")
    page.context.close()


def test_accessible(bench):
    for scheme in ("light", "dark"):
        page = bench.open(color_scheme=scheme, bypass_csp=True)
        page.click("#keep")
        for summary in page.locator("summary").all():
            summary.click()
        page.add_script_tag(path=bench.axe)
        found = page.evaluate("axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })")
        faults = [f"{one['id']}: {node['html'][:120]}" for one in found["violations"] for node in one["nodes"]]
        check(not faults, f"{scheme}: " + "\n".join(faults))
        page.context.close()


def test_keyboard(bench):
    page = bench.open()
    page.keyboard.press("Tab")
    check(page.evaluate("document.activeElement.textContent") == "Skip to the answer", "the first stop")
    page.focus("#tab-training")
    page.keyboard.press("ArrowRight")
    check(page.evaluate("document.activeElement.id") == "tab-counts", "arrows move between tabs")
    wait(page, "document.getElementById('plan').value.startsWith('laplace')")
    page.focus("[data-for=c-scale]")
    before = page.input_value("#c-scale")
    page.keyboard.press("ArrowRight")
    wait(page, f"document.getElementById('c-scale').value !== '{before}'")
    settle(page)
    page.context.close()


def main(site, command, axe, pictures, *names):
    pictures = pathlib.Path(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    server = serve(site)
    tests = {name: test for name, test in globals().items() if name.startswith("test_") and (not names or name in names)}
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        bench = Bench(browser, server, command, axe, pictures)
        for name, test in tests.items():
            bench.faults = []
            started = time.monotonic()
            try:
                test(bench)
                check(not bench.faults, "; ".join(bench.faults[:5]))
                print(f"ok      {name} ({time.monotonic() - started:.0f} s)", flush=True)
            except Exception as error:  # noqa: BLE001: every test runs
                failed += 1
                print(f"FAILED  {name} ({time.monotonic() - started:.0f} s): {str(error)[:1500]}", flush=True)
        browser.close()
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
