// SPDX-License-Identifier: Apache-2.0
// The page: reads the plan from its form, its text or its link, asks the library, and shows the answers.
import { Chart } from "./chart.js";
import { Cancelled, Engine, Refusal } from "./engine.js";
import { decodeLink, encodeLink } from "./link.js";
import { examples, formOf, indexOfByte, planOfCounts, planOfPromise, shuffledInstead } from "./plans.js";
import { countNoises, leastFactor } from "./split.js";
import { codeFor, copyText, save, toPng } from "./take.js";

const $ = (id) => document.getElementById(id);
const styles = ["plan-a", "plan-b", "plan-c", "plan-d"];
const usual_deltas = ["1e-4", "1e-5", "1e-6", "1e-8", "1e-10"];
const most_kept = 3;
const most_time = 10000; // milliseconds for a question that nobody asked for by itself
const slow_time = 1000; // a plan with a slower headline is shown in small parts

/** What the page is about. Everything shown follows from it. */
const state = { plan: "", delta: "1e-5", neighbours: "", kept: [], view: "tradeoff", scale: "linear" };

/** What is being computed: the parts of one look at a plan. */
const work = { done: 0, total: 0, since: 0, timer: 0 };

const engine = new Engine(showState);
const chart = new Chart($("chart"), showReading);

const question = (ask, more = {}, one = state) => ({ ask, plan: one.plan, ...(one.neighbours === "" ? {} : { neighbours: one.neighbours }), ...more });

function element(name, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

// Progress. The questions of one look at a plan are counted; a single long one shows the time.

function showState(now) {
  if (now === "failed") $("state").textContent = "The library could not be loaded.";
  if (now === "loading" && work.total === 0) $("state").textContent = "Loading…";
}

function beginWork(total) {
  Object.assign(work, { done: 0, total, since: performance.now() });
  clearInterval(work.timer);
  work.timer = setInterval(showWork, 250);
  $("state").textContent = "Computing…";
}

function showWork() {
  const seconds = (performance.now() - work.since) / 1000;
  if (seconds < 0.4) return;
  $("progress").hidden = false;
  $("progress").value = work.done / work.total;
  $("cancel").hidden = false;
  $("state").textContent = `Computing, ${work.done} of ${work.total} parts, ${seconds.toFixed(0)} s`;
}

function finishWork(text = "Ready") {
  clearInterval(work.timer);
  $("progress").hidden = true;
  $("cancel").hidden = true;
  $("state").textContent = text;
}

// From the form to the plan and back.

const forms = { training: $("form-training"), counts: $("form-counts"), promise: $("form-promise") };
let shown_form = "training";

const valuesOf = (form) => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));

function chooseForm(name, focus = false) {
  shown_form = name;
  for (const [key, form] of Object.entries(forms)) {
    form.parentElement.hidden = key !== name;
    const tab = $(`tab-${key}`);
    tab.setAttribute("aria-selected", String(key === name));
    tab.tabIndex = key === name || (name === null && key === "training") ? 0 : -1;
    if (key === name && focus) tab.focus();
  }
  $("no-form").hidden = name !== null;
}

function fillForm(name, values) {
  for (const [key, value] of Object.entries(values)) if (forms[name].elements[key] && forms[name].elements[key] !== document.activeElement) forms[name].elements[key].value = value;
  for (const slider of forms[name].querySelectorAll("input[type=range]")) placeSlider(slider);
  showUnits();
}

/** The steps of a training plan, in words. */
function stepsOf(plan) {
  const repeated = /repeat\((\d+)\)/.exec(plan);
  if (repeated) return `${Number(repeated[1]).toLocaleString("en")} steps`;
  const cut = /(?:batches|steps)=(\d+)(?:, passes=(\d+))?/.exec(plan);
  return cut ? `${(Number(cut[1]) * Number(cut[2] ?? 1)).toLocaleString("en")} steps` : "";
}

function showUnits() {
  $("t-steps").textContent = shown_form === "training" ? stepsOf(state.plan) : "";
  const laplace = $("c-noise").value === "laplace";
  $("c-scale-unit").textContent = laplace ? "of the Laplace distribution" : "standard deviation";
}

/** The plan of the form that is shown. A training run is translated by the library, which answers with the headline at once if it is quick. */
async function planOfForm() {
  const values = valuesOf(forms[shown_form]);
  if (shown_form === "counts") return { plan: planOfCounts(values) };
  if (shown_form === "promise") return { plan: planOfPromise(values) };
  const at_once = ["poisson", "fixed"].includes(values.sampling); // the others take seconds; their plan is shown before
  const made = await engine.ask({ ask: "training", ...values, neighbours: state.neighbours, ...(at_once ? { delta: state.delta } : {}) }, { key: "look training", most: most_time });
  return { plan: made.plan, headline: made.headline ? { ...made.headline, milliseconds: made.milliseconds } : null };
}

async function formChanged({ fast = false } = {}) {
  const mine = ++look_count;
  clearFaults();
  aside?.close();
  engine.forget("look");
  if (!fast) beginWork(work_parts);
  try {
    const { plan, headline } = await planOfForm();
    if (mine !== look_count) return;
    state.plan = plan;
    $("plan").value = plan;
    showUnits();
    await look({ fast, headline });
  } catch (error) {
    if (mine !== look_count && error instanceof Cancelled) return;
    finishWork(error instanceof Cancelled ? "Cancelled" : "No answer");
    showFault(error);
  }
}

function planChanged() {
  state.plan = $("plan").value;
  const found = state.plan.length < 400 ? formOf(state.plan, valuesOf(forms.training)) : null;
  chooseForm(found?.form ?? null);
  if (found) fillForm(found.form, found.values);
  if (found?.values.relation && state.neighbours === "") $("neighbours").value = state.neighbours = found.values.relation;
  look();
}

// Sliders have a logarithmic scale: equal steps are equal factors.

function placeSlider(slider) {
  const { low, high } = slider.dataset;
  const value = Number($(slider.dataset.for).value);
  Object.assign(slider, { min: 0, max: 1000, step: 1 });
  slider.value = Math.round((1000 * Math.log(Math.min(Math.max(value, low), high) / low)) / Math.log(high / low)) || 0;
  slider.setAttribute("aria-valuetext", $(slider.dataset.for).value);
}

function slide(slider) {
  const { low, high, whole } = slider.dataset;
  const value = low * (high / low) ** (slider.value / 1000);
  const text = whole !== undefined ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
  $(slider.dataset.for).value = text;
  slider.setAttribute("aria-valuetext", text);
}

// Faults.

function clearFaults() {
  $("plan-fault").hidden = true;
  for (const field of document.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

function showFault(error) {
  if (error instanceof Cancelled) return;
  const box = $("plan-fault");
  box.hidden = false;
  box.children[0].textContent = error instanceof Refusal ? error.message : `Something is wrong with the page itself: ${error.message}`;
  box.children[1].textContent = "";
  document.body.classList.add("stale");
  $("claim-name").textContent = "No answer";
  $("claim").textContent = "ε ≤ …";
  $("proof").textContent = $("meaning").textContent = "";
  $("other").hidden = true;
  if (!(error instanceof Refusal)) throw error;
  if (error.kind === "too_slow") {
    const button = element("button", { type: "button", class: "quiet", text: "Compute it, however long it takes" });
    button.onclick = () => look({ most: Infinity });
    return box.children[1].replaceChildren(button);
  }
  const field = { delta: $("delta"), neighbours: $("neighbours") }[error.field] ?? (forms[shown_form]?.elements[error.field] || null);
  if (field) return field.setAttribute("aria-invalid", "true");
  $("plan").setAttribute("aria-invalid", "true");
  if (error.kind === "parse" && error.field === "plan") pointAt(state.plan, error.at);
}

/** The line at fault with a caret below the place. */
function pointAt(plan, at) {
  const index = indexOfByte(plan, at);
  const start = plan.lastIndexOf("\n", index - 1) + 1;
  const end = plan.indexOf("\n", index);
  const line = plan.slice(start, end === -1 ? plan.length : end);
  const from = Math.max(0, index - start - 40);
  $("plan-fault").children[1].textContent = `${line.slice(from, from + 90)}\n${" ".repeat(index - start - from)}^`;
}

// One look at a plan: the headline first, then everything else, in the order in which it is read.

let look_count = 0;
const work_parts = 5;
const data = { headline: null, curves: new Map() };

/** `headline`: the answer about the headline, if it is there already. */
async function look({ fast = false, headline = null, most = most_time } = {}) {
  const mine = ++look_count;
  const current = () => mine === look_count;
  clearFaults();
  aside?.close();
  engine.forget("look");
  if (!fast) {
    writeLink();
    beginWork(work_parts);
  }
  try {
    const found = headline ?? (await engine.ask(question("headline", { delta: state.delta }), { key: "look headline", most }));
    if (!current()) return;
    if (found.error) throw new Refusal(found.error);
    if (found.unknown) return showOpenPlan(found);
    document.body.classList.remove("stale");
    $("other").hidden = true;
    data.headline = found;
    data.curves.clear();
    showHeadline(found);
    if (fast) return await lookFast(current);
    ++work.done;
    await lookClosely(current);
  } catch (error) {
    if (!current() && error instanceof Cancelled) return;
    finishWork(error instanceof Cancelled ? "Cancelled" : "No answer");
    showFault(error);
  }
}

/** While a slider moves: the headline, and a coarse curve as soon as the slider rests for a moment. */
async function lookFast(current) {
  await new Promise((resolve) => setTimeout(resolve, 80));
  if (!current()) return;
  const rows = await engine.ask(question("curve", { view: state.view, points: 31 }), { key: "look curve" });
  if (!current()) return;
  showChart(toRows(rows, state.view));
  showKept();
}

async function lookClosely(current) {
  showAssumed();
  showCode();
  showUnknowns();
  showKept();
  const slow = data.headline.milliseconds > slow_time;
  if (slow) showSlowChart();
  // What is quick for every plan comes first: small false-positive rates and rare outputs can take seconds.
  for (const part of [lookAtEpsilons, lookAtMus, lookAtRisks, slow ? () => {} : lookAtCurve]) {
    await part(current, slow);
    if (!current()) return;
    ++work.done;
  }
  if (!slow) await showKeptCurves(current);
  finishWork();
  await lookBesides(current);
}

/** One answer of a look; undefined if it would take too long. */
async function part(asked, key) {
  try {
    return await engine.ask(asked, { key: `look ${key}`, most: most_time });
  } catch (error) {
    if (error.kind === "too_slow") return undefined;
    throw error;
  }
}

async function lookAtCurve(current) {
  const rows = await curveOf(state);
  if (current()) showChart(rows);
}

/** The curve of a slow plan is not drawn unless somebody asks for it. */
function showSlowChart() {
  const button = element("button", { type: "button", class: "quiet", text: "Compute the curve" });
  button.onclick = () => redrawChart();
  chart.clear();
  chart_rows = [];
  $("chart").replaceChildren(element("div", { class: "empty" }, element("p", { text: "One answer about this plan takes seconds, and a curve needs many." }), button));
  $("legend").replaceChildren();
}

async function lookAtRisks(current, slow) {
  const found = {};
  for (const rows of slow ? ["guess", "rate", "crowd", "odds"] : ["rate,guess,crowd", "odds"]) {
    Object.assign(found, await part(question("risks", { rows }), "risks"));
    if (!current()) return;
    showRisks(found, rows.includes("odds"));
  }
}

async function lookAtEpsilons(current, slow) {
  const rows = [];
  for (const deltas of slow ? usual_deltas : [usual_deltas.join(",")]) {
    const found = await part(question("epsilons", { deltas }), "epsilons");
    rows.push(...(found?.rows ?? [{ delta: deltas, epsilon: null }]));
    if (!current()) return;
    showEpsilons({ rows });
  }
}

async function lookAtMus(current) {
  const found = await part(question("mus"), "mus");
  if (current()) showMus(found ?? { verdict: "", rows: [] });
}

let aside = null;

/** What another sampler gives takes longest. A worker of its own computes it, so that nothing waits for it. */
async function lookBesides(current, most = most_time) {
  const mine = (aside = new Engine());
  try {
    const found = await otherSampler(mine, most);
    if (current()) showOther(found, () => lookBesides(current, Infinity));
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    if (current()) $("other").hidden = true;
  } finally {
    mine.close();
  }
}

/** Fewer points of a curve whose single answers take long. */
const pointsOf = () => (data.headline.milliseconds < 100 ? 161 : data.headline.milliseconds < 1000 ? 61 : 25);

async function curveOf(one, view = state.view) {
  const key = JSON.stringify([one.plan, one.neighbours, view]);
  if (!data.curves.has(key)) data.curves.set(key, toRows(await engine.ask(question("curve", { view, points: pointsOf() }, one), { key: `look ${key}` }), view));
  return data.curves.get(key);
}

const numberOf = (end) => (end === "inf" ? Infinity : end === "-inf" ? -Infinity : Number(end));
const toRows = ({ rows }, view) => rows.map((row) => ({ at: view === "profile" ? row.epsilon : row.alpha, lo: numberOf((row.beta ?? row.delta).lo), hi: numberOf((row.beta ?? row.delta).hi) }));

/** A plan with a question mark: it has no answer yet, and the section that decides finds one. */
function showOpenPlan({ parameter }) {
  finishWork();
  document.body.classList.add("stale");
  $("claim").textContent = `${parameter} = ?`;
  $("proof").textContent = "The plan leaves this value open.";
  $("meaning").textContent = "State a target under Decide, and the page finds the value that just meets it.";
  $("other").hidden = true;
  showUnknowns();
  showCode();
}

// What is shown.

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/** 1e-5 as 10⁻⁵; any other number as it is written. */
const pretty = (text) => text.replace(/^(?:(\d(?:\.\d+)?)e)(-?)0*(\d+)$/, (_, first, sign, exponent) => `${first === "1" ? "" : `${first} · `}10${sign === "-" ? "⁻" : ""}${[...exponent].map((digit) => superscripts[digit]).join("")}`);
/** The proof of a table: its two ends. */
const ends = (proof) => proof.replace(/^between (.*) and (.*)$/, "$1 – $2");
/** A sentence of the library, in which code is in backquotes. */
const sentence = (text) => text.split("`").map((part, i) => (i % 2 === 1 ? element("code", { text: part }) : part));

const spoken = { "add-remove": "adding or removing one record", "replace-one": "replacing one record", "zero-out": "zeroing out one record", unstated: "an unstated change of one record" };

function showHeadline({ epsilon, neighbours, unit, sampling, assumed_poisson }) {
  $("claim-name").textContent = assumed_poisson || sampling.length > 1 ? "Certified, for this sampling" : "Certified";
  $("claim").textContent = epsilon.hi === "inf" ? "no finite ε" : `ε ≤ ${epsilon.claim}`;
  $("proof").textContent = `at δ = ${pretty(state.delta)} · ${epsilon.proof}`;
  $("meaning").textContent = `Protects ${unit} against ${spoken[neighbours]}.`;
}

/** For Poisson sampling, what a shuffling loader would give; for other samplers, what a Poisson accountant would say. */
async function otherSampler(engine, most) {
  const assumed = data.headline.assumed_poisson;
  if (assumed) {
    const one = { plan: assumed, neighbours: data.headline.neighbours };
    const { epsilon } = await engine.ask(question("headline", { delta: state.delta }, one), { most });
    return { name: "A Poisson accountant would say", epsilon, meaning: "It is not proved for this plan: the batches are not Poisson sampled.", proved: false };
  }
  const run = shuffledInstead(data.headline.canonical, valuesOf(forms.training));
  if (run === null) return null;
  const name = "If the loader shuffles instead";
  showOther({ name, epsilon: { claim: "…", proof: "being computed" }, meaning: "", proved: true });
  try {
    const { plan } = await engine.ask({ ask: "training", ...run }, { most });
    const { epsilon } = await engine.ask(question("headline", { delta: state.delta }, { plan, neighbours: run.neighbours }), { most });
    return { name, epsilon, meaning: `Proved for ${plan}, against ${spoken[run.neighbours]}.`, proved: true };
  } catch (error) {
    if (error.kind === "too_slow") return { name, epsilon: null, meaning: `It takes more than ${most / 1000} s in this browser. `, proved: false };
    if (error instanceof Cancelled) throw error;
    return null; // no theorem covers that plan
  }
}

function showOther(found, again = () => {}) {
  $("other").hidden = found === null;
  if (found === null) return;
  $("other-name").textContent = found.name;
  if (found.epsilon === null) {
    const button = element("button", { type: "button", class: "quiet", text: "Compute it" });
    button.onclick = again;
    $("other-claim").textContent = "ε not computed";
    $("other-proof").textContent = "";
    $("other-meaning").replaceChildren(found.meaning, button);
    return;
  }
  $("other-claim").textContent = found.epsilon.hi === "inf" ? "no finite ε" : `ε ≤ ${found.epsilon.claim}`;
  $("other-proof").textContent = `at δ = ${pretty(state.delta)}${found.proved ? ` · ${found.epsilon.proof}` : ""}`;
  $("other-meaning").textContent = found.meaning;
}

function meter(share, guess) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ class: "meter", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(key, value);
  const add = (name, x, y, width, height) => {
    const bar = document.createElementNS(space, "rect");
    for (const [key, value] of Object.entries({ class: name, x, y, width, height, rx: name === "mark" ? 0 : 2 })) bar.setAttribute(key, value);
    svg.append(bar);
  };
  const whole = [0.01, 0.1, 1].find((size) => size >= share) ?? 1; // the length of the bar
  add("track", 0, 4, 1000, 6);
  add("fill", 0, 4, 1000 * Math.min(1, share / whole), 6);
  add("mark", Math.min(996, (1000 * guess) / whole), 0, 4, 14);
  return element("div", { class: "scale", "aria-hidden": "true" }, svg, element("small", { text: "0" }), element("small", { text: `${100 * whole} %` }));
}

function showRisks({ introduction, rate, guess, crowd, odds }, all = false) {
  const missing = all ? "(not computed)" : "…";
  const item = (row, before, after, baseline) =>
    row === undefined
      ? element("li", { class: "missing" }, before, missing, after)
      : element("li", {}, before, element("b", { text: `${row.per_cent} %` }), after, meter(row.value.hi, baseline));
  $("risk-introduction").textContent = (introduction ?? "").replace("In plain words, w", "W");
  const certain = odds?.value.hi === "inf" ? "In 1 of 100,000 runs, or more often, an output may reveal whether you took part." : `In all but 1 of 100,000 runs, no output multiplies the odds that you took part by more than ${odds?.value.claim ?? missing}.`;
  $("risks").replaceChildren(
    item(rate, "An attack that wrongly accuses 1 person in 1,000 finds at most ", " of those who took part (guessing: 0.1 %).", 0.001),
    item(guess, "A coin toss decided whether you take part: the best guess about it is right at most ", " of the time (guessing: 50 %).", 0.5),
    item(crowd, "Among 1,000 equally likely people, an attacker picks you with probability at most ", " (guessing: 0.1 %).", 0.001),
    element("li", { text: certain, ...(odds ? {} : { class: "missing" }) }),
  );
}

function tableRow(...cells) {
  return element("tr", {}, ...cells.map((cell, i) => (cell instanceof Node ? element("td", {}, cell) : element("td", { text: cell, ...(i === 2 ? { class: "proved" } : {}) }))));
}

function showEpsilons({ rows }) {
  $("epsilons").replaceChildren(...rows.map(({ delta, epsilon }) => tableRow(pretty(delta), epsilon?.claim ?? "…", epsilon ? ends(epsilon.proof) : `takes more than ${most_time / 1000} s`)));
}

function showMus({ verdict, rows }) {
  $("mus").replaceChildren(...rows.map(({ slack, mu }) => tableRow(pretty(slack), mu.claim, ends(mu.proof))));
  const whole = { gdp: "With slack 0, μ covers the whole curve.", not_gdp: "No μ covers the whole curve, so a slack is needed.", undecided: "It is not known whether some μ covers the whole curve." }[verdict];
  if (whole === undefined) return ($("mus-meaning").textContent = `Not computed: it takes more than ${most_time / 1000} s in this browser.`);
  $("mus-meaning").textContent = `Except with probability slack, detecting you is at least as hard as telling one draw of N(0, 1) from one of N(μ, 1). ${whole}`;
}

function showAssumed() {
  const { neighbours_sentence, sampling, method, steps } = data.headline;
  $("assumed").replaceChildren(...[neighbours_sentence, ...sampling].map((text) => element("li", {}, ...sentence(text.replace(/^None: /, "No sampling: ")))));
  $("method").textContent = `Method: ${method}. The theorems that the answer uses:`;
  $("steps").replaceChildren(...steps.map(({ theorem, detail }) => element("li", {}, element("code", { text: theorem }), detail ? `: ${detail}` : "")));
}

// The chart.

const axes = {
  tradeoff: { x: "false alarms α", y: "missed participants β", help: "An attacker can only reach points on or above the line. The line is the proved lower bound, the band its interval. Drag to zoom, double-click or Escape to return, arrow keys to read." },
  profile: { x: "ε", y: "δ", help: "The least δ at each ε. The line is the proved upper bound, the band its interval. Drag to zoom, double-click or Escape to return, arrow keys to read." },
};

let chart_rows = [];

function showChart(rows, others = []) {
  chart_rows = rows;
  const all = [rows, ...others.map((one) => one.rows)];
  const profile = state.view === "profile";
  const log = state.scale === "log";
  const reach = Math.max(...all.map((one) => one.at(-1).at));
  const x = profile ? { low: 0, high: reach || 1, logarithmic: false } : { low: log ? 1e-6 : 0, high: 1, logarithmic: log };
  const y = profile ? { low: log ? 1e-10 : 0, high: log ? 1 : Math.max(...all.flatMap((one) => one.map(({ hi }) => hi))) || 1, logarithmic: log } : { low: log ? 1e-6 : 0, high: 1, logarithmic: log };
  const names = axes[state.view];
  chart.show({
    key: `${state.view} ${state.scale}`,
    x: { label: names.x, ...x },
    y: { label: names.y, ...y },
    square: !profile,
    safe: profile ? "hi" : "lo",
    shade: profile ? null : "above",
    guess: profile ? null : Array.from({ length: 101 }, (_, i) => [(i / 100) ** 3, 1 - (i / 100) ** 3]),
    series: [{ name: "this plan", style: "plan-a", rows }, ...others],
    description: `${profile ? "Privacy profile" : "Trade-off curve"} of ${data.headline?.canonical ?? "the plan"}${others.length > 0 ? ` and of ${others.length} more` : ""}. The tables on this page give values as text.`,
  });
  $("chart-title").textContent = profile ? "δ at every ε" : "What any attacker can reach";
  $("chart-help").textContent = names.help;
  const entries = [{ style: "plan-a", name: "this plan" }, ...others].map(({ style, name }) => element("li", {}, element("span", { class: `swatch ${style}`, "aria-hidden": "true" }), name));
  $("legend").replaceChildren(...(others.length > 0 ? entries : []));
}

const shortNumber = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "∞");
/** An interval with enough digits to show where its ends differ; the ends are rounded outward. */
function intervalText(lo, hi) {
  if (lo === hi) return `exactly ${lo}`;
  if (!Number.isFinite(hi)) return `at least ${shortNumber(lo)}`;
  const digits = Math.min(15, Math.max(4, 2 + Math.ceil(-Math.log10((hi - lo) / hi))));
  const outward = (value, up) => {
    let text = value.toPrecision(digits);
    if (up ? Number(text) < value : Number(text) > value) text = (value * (1 + (up ? 1 : -1) * 10 ** (1 - digits))).toPrecision(digits);
    return String(Number(text));
  };
  return `between ${outward(lo, false)} and ${outward(hi, true)}`;
}

function showReading(found, by_key) {
  if (found === null) return $("reading").replaceChildren("\u00a0");
  const [at, value] = state.view === "profile" ? ["ε", "δ"] : ["α", "β"];
  $("reading").setAttribute("aria-live", by_key ? "polite" : "off");
  $("reading").replaceChildren(...found.map(({ series, at: place, lo, hi }) => element("span", { text: `${found.length > 1 ? `${series.name}: ` : ""}${at} = ${shortNumber(place)}: ${value} ${intervalText(lo, hi)}` })));
}

async function redrawChart() {
  for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
  for (const button of document.querySelectorAll("[data-scale]")) button.setAttribute("aria-pressed", String(button.dataset.scale === state.scale));
  if (!data.headline) return;
  beginWork(1);
  try {
    showChart(await curveOf(state));
    await showKeptCurves(() => true);
    finishWork();
  } catch (error) {
    finishWork(error instanceof Cancelled ? "Cancelled" : "No answer");
    showFault(error);
  }
}

// Side by side.

const nameOf = (index) => `plan ${"ABCD"[index]}`;

function keepPlan() {
  if (state.kept.length >= most_kept || !data.headline) return;
  state.kept.push({ plan: state.plan, neighbours: state.neighbours, delta: state.delta, epsilon: data.headline.epsilon, relation: data.headline.neighbours });
  writeLink();
  showKept();
  showKeptCurves(() => true).catch(showFault);
}

function showKept() {
  const row = (style, one, actions) => {
    const made = element("tr", {}, element("td", {}, element("span", { class: `swatch ${style}`, "aria-hidden": "true" })), element("td", {}, element("code", { text: one.plan.length > 300 ? `${one.plan.slice(0, 300)}…` : one.plan })));
    for (const text of [one.epsilon?.claim ?? "…", pretty(one.delta), spoken[one.relation] ?? ""]) made.append(element("td", { text }));
    made.append(element("td", {}, ...actions));
    return made;
  };
  const rows = data.headline ? [row("plan-a", { ...state, epsilon: data.headline.epsilon, relation: data.headline.neighbours }, [])] : [];
  state.kept.forEach((one, i) => {
    const show = element("button", { type: "button", class: "quiet", text: "Show", "aria-label": `Show ${nameOf(i + 1)} in the form` });
    const drop = element("button", { type: "button", class: "quiet", text: "Remove", "aria-label": `Remove ${nameOf(i + 1)}` });
    show.onclick = () => setPlan(one);
    drop.onclick = () => {
      state.kept.splice(i, 1);
      writeLink();
      showKept();
      showKeptCurves(() => true).catch(showFault);
    };
    rows.push(row(styles[i + 1], one, [show, " ", drop]));
  });
  $("kept").replaceChildren(...rows);
  $("keep").disabled = state.kept.length >= most_kept;
}

async function showKeptCurves(current) {
  const others = [];
  for (const [i, one] of state.kept.entries()) {
    if (!one.epsilon) {
      const answer = await engine.ask(question("headline", { delta: one.delta }, one), { key: `look kept ${i}` });
      Object.assign(one, { epsilon: answer.epsilon, relation: answer.neighbours });
    }
    others.push({ style: styles[i + 1], name: nameOf(i + 1), rows: await curveOf(one) });
    if (!current()) return;
  }
  showKept();
  if (chart_rows.length > 0) showChart(chart_rows, others);
}

// Decide.

const all_noise = "all noise";

/** The numbers of the plan that may be left open, each argument that is written with its name, and all noise together. */
function showUnknowns() {
  const before = $("unknown").value;
  const source = state.plan.includes("?") ? state.plan : (data.headline?.canonical ?? state.plan);
  const options = [];
  if (source.includes("?")) options.push({ value: source, text: "the ? of the plan" });
  else {
    for (const { 0: text, 1: name, index } of source.matchAll(/([a-z_]+)=([-+.\d][-+.\deE/]*)/g)) {
      if (options.length > 20) break;
      const word = /([a-z_]+)\([^()]*$/.exec(source.slice(0, index))?.[1] ?? "";
      options.push({ value: `${source.slice(0, index)}${name}=?${source.slice(index + text.length)}`, text: `${name} of ${word}` });
    }
    for (const option of options) {
      const same = options.filter((one) => one.text === option.text);
      if (same.length > 1) same.forEach((one, i) => (one.text += `, number ${i + 1}`));
    }
    if (countNoises(source) > 1) options.push({ value: all_noise, text: "all noise, in the same proportions" });
  }
  $("unknown").replaceChildren(...options.map((one) => element("option", one)));
  if (options.some((one) => one.value === before)) $("unknown").value = before;
}

const targets = {
  epsilon: { name: "ε", at: "at δ", first: "target.epsilon", second: "target.delta", value: "1", more: "1e-5" },
  mu: { name: "μ", at: "with slack", first: "target.mu", second: "target.slack", value: "1", more: "1e-5" },
  advantage: { name: "advantage", first: "target.advantage", value: "0.1" },
  tpr: { name: "true-positive rate", at: "at false-positive rate", first: "target.tpr", second: "target.fpr", value: "0.01", more: "0.001" },
};

function showTarget() {
  const target = targets[$("target").value];
  $("target-name").textContent = target.name;
  $("target-value").value = target.value;
  $("target-more").hidden = target.second === undefined;
  $("target-at").textContent = target.at ?? "";
  $("target-second").value = target.more ?? "";
}

let solved = null;

async function decide() {
  const target = targets[$("target").value];
  const stated = { [target.first]: $("target-value").value.trim() };
  if (target.second && $("target-second").value !== "") stated[target.second] = $("target-second").value.trim();
  $("use").hidden = true;
  $("solution").textContent = "Searching…";
  beginWork(1);
  try {
    const { plan, shown } = await ($("unknown").value === all_noise ? splitBudget(stated) : findValue($("unknown").value, stated));
    solved = { plan, delta: $("target").value === "epsilon" ? $("target-second").value.trim() : state.delta };
    $("solution").replaceChildren(...shown);
    $("use").hidden = plan === null;
    finishWork();
  } catch (error) {
    finishWork(error instanceof Cancelled ? "Cancelled" : "No answer");
    $("solution").textContent = error instanceof Cancelled ? "Cancelled." : error.message;
    if (!(error instanceof Refusal) && !(error instanceof Cancelled)) throw error;
  }
}

/** The value of the open number; the end that is printed was verified by the library. */
async function findValue(plan, stated) {
  const found = await engine.ask(question("calibrate", stated, { plan, neighbours: state.neighbours }), { key: "look calibrate" });
  const [claim, ...proof] = found.text.trim().split("\n");
  const [, parameter, value] = /^(\S+) = (\S+) meets/.exec(claim);
  const shown = [element("strong", { text: `${parameter} = ${value}` }), ` ${claim.slice(claim.indexOf("meets"))}; this is the safe end. `, proof.map((line) => line.trim()).join(" ")];
  return { plan: plan.replace("?", value), shown };
}

/** The least factor of all noise. */
async function splitBudget(stated) {
  let said = "";
  const meets = async (plan) => {
    const { met, target } = await engine.ask(question("meets", stated, { plan, neighbours: state.neighbours }), { key: "look calibrate" });
    said = target;
    return met;
  };
  const found = await leastFactor(data.headline.canonical, meets);
  if (found === null) return { plan: null, shown: ["No factor of the noise was found that meets the target."] };
  const shown = [element("strong", { text: `All noise times ${found.factor}` }), ` meets ${said}; this is the safe end. With ${found.below} it ${found.fails ? "is missed" : "is not proved to be met"}. The plan is then `, element("code", { text: found.plan.replaceAll("\n", "; ") }), "."];
  return { plan: found.plan, shown };
}

// Take away.

function showCode() {
  for (const [name, text] of Object.entries(codeFor(state))) $(`code-${name}`).textContent = text;
}

/** The kept plans as fields plan2, plan3, plan4, each with its neighbours. */
const further = () => Object.fromEntries(state.kept.flatMap((one, i) => [[`plan${i + 2}`, one.plan], ...(one.neighbours === "" ? [] : [[`neighbours${i + 2}`, one.neighbours]])]));

const takings = {
  async link() {
    writeLink();
    await copyText(location.href);
    return "The link is in the clipboard. It carries the plan itself; nothing is stored anywhere.";
  },
  async statement() {
    const { file } = await engine.ask(question("statement", { delta: state.delta, ...further() }), { key: "take" });
    save("privacy_statement.html", "text/html", file);
    return "Saved privacy_statement.html.";
  },
  async certificate() {
    const { text } = await engine.ask(question("certify", { delta: state.delta }), { key: "take" });
    save("certificate.json", "application/json", text);
    return "Saved certificate.json; `tradeoff verify certificate.json` checks it.";
  },
  async svg() {
    const { file } = await engine.ask(question("picture", { view: state.view, ...further() }), { key: "take" });
    save("tradeoff.svg", "image/svg+xml", file);
    return "Saved tradeoff.svg.";
  },
  async png() {
    const { file } = await engine.ask(question("picture", { view: state.view, ...further() }), { key: "take" });
    save("tradeoff.png", "image/png", await toPng(file));
    return "Saved tradeoff.png.";
  },
  async csv() {
    const { file } = await engine.ask(question("csv", { view: state.view, points: 101 }), { key: "take" });
    save(`${state.view}.csv`, "text/csv", file);
    return `Saved ${state.view}.csv; its decimals are rounded outward.`;
  },
  async print() {
    window.print();
    return "";
  },
};

async function take(name) {
  $("taken").textContent = "";
  beginWork(1);
  try {
    $("taken").textContent = await takings[name]();
    finishWork();
  } catch (error) {
    finishWork(error instanceof Cancelled ? "Cancelled" : "No answer");
    $("taken").textContent = error instanceof Cancelled ? "Cancelled." : error.message;
  }
}

// Links.

function writeLink() {
  history.replaceState(null, "", `#${encodeLink(state)}`);
}

function readLink() {
  const found = decodeLink(location.hash.slice(1));
  if (found === null) return false;
  state.kept = found.kept.slice(0, most_kept);
  setPlan(found);
  return true;
}

function setPlan({ plan, delta, neighbours }) {
  Object.assign(state, { delta: delta ?? state.delta, neighbours: neighbours ?? "" });
  $("plan").value = plan;
  $("delta").value = state.delta;
  $("neighbours").value = state.neighbours;
  planChanged();
}

// Wiring.

function debounced(action, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

function wireForms() {
  for (const form of Object.values(forms)) {
    form.addEventListener("submit", (event) => event.preventDefault());
    const soon = debounced(() => formChanged(), 200);
    form.addEventListener("input", (event) => {
      if (event.target.type === "range") {
        slide(event.target);
        formChanged({ fast: true });
      } else {
        for (const slider of form.querySelectorAll(`[data-for="${event.target.id}"]`)) placeSlider(slider);
        soon();
      }
    });
    form.addEventListener("change", (event) => event.target.type === "range" && formChanged());
    for (const slider of form.querySelectorAll("input[type=range]")) placeSlider(slider);
  }
  for (const name of Object.keys(forms)) $(`tab-${name}`).onclick = () => (chooseForm(name), formChanged());
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    const names = Object.keys(forms);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    chooseForm(names[(names.indexOf(shown_form) + step + names.length) % names.length], true);
    formChanged();
  });
}

function wirePlan() {
  $("plan").addEventListener("input", debounced(planChanged, 250));
  $("delta").addEventListener("input", debounced(() => ((state.delta = $("delta").value.trim()), look()), 250));
  $("neighbours").addEventListener("change", () => {
    state.neighbours = $("neighbours").value;
    if (shown_form === "training") formChanged();
    else look();
  });
  for (const one of examples) {
    const button = element("button", { type: "button", text: one.name });
    button.onclick = () => setPlan({ ...one, neighbours: "" });
    $("examples").append(button);
  }
}

function wireAnswers() {
  for (const button of document.querySelectorAll("[data-view]")) button.onclick = () => ((state.view = button.dataset.view), (state.scale = state.view === "profile" ? "log" : "linear"), redrawChart());
  for (const button of document.querySelectorAll("[data-scale]")) button.onclick = () => ((state.scale = button.dataset.scale), redrawChart());
  for (const button of document.querySelectorAll("[data-take]")) button.onclick = () => take(button.dataset.take);
  for (const button of document.querySelectorAll("[data-copy]")) button.onclick = async () => ((await copyText($(button.dataset.copy).textContent)), (button.textContent = "Copied"), setTimeout(() => (button.textContent = "Copy"), 2000));
  $("keep").onclick = keepPlan;
  $("cancel").onclick = () => (aside?.close(), engine.cancel());
  $("target").onchange = showTarget;
  $("decide").addEventListener("submit", (event) => (event.preventDefault(), decide()));
  $("use").onclick = () => solved && setPlan({ ...solved, neighbours: state.neighbours });
  window.addEventListener("hashchange", readLink);
}

wireForms();
wirePlan();
wireAnswers();
if (!readLink()) setPlan(examples[0]);
engine.ask({ ask: "version" }).then(({ version }) => ($("version").textContent = `Version ${version}.`), () => {});
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("service_worker.js").catch(() => {});
