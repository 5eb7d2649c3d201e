// SPDX-License-Identifier: Apache-2.0
// Draws curves with their certified bands as SVG. A pointer, or the arrow keys, reads the exact intervals; a drag zooms.

const space = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, text = null) {
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  return element;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (exponent) => `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => superscripts[digit]).join("")}`;

/** About `count` round numbers in the range. */
function linearTicks(low, high, count = 5) {
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) ticks.push({ at: i * step, label: String(Number((i * step).toPrecision(6))) });
  return ticks;
}

function logarithmicTicks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / 6));
  const ticks = [];
  for (let e = first; e <= last; ++e) if ((last - e) % step === 0) ticks.push({ at: 10 ** e, label: e === 0 ? "1" : power(e) });
  return ticks;
}

class Axis {
  constructor({ low, high, logarithmic }, from, to) {
    Object.assign(this, { low, high, logarithmic, from, to });
  }
  place(value) {
    const [low, high, at] = this.logarithmic ? [Math.log(this.low), Math.log(this.high), Math.log(Math.max(value, 1e-320))] : [this.low, this.high, value];
    return this.from + ((at - low) / (high - low)) * (this.to - this.from);
  }
  value(place) {
    const share = (place - this.from) / (this.to - this.from);
    return this.logarithmic ? this.low * (this.high / this.low) ** share : this.low + share * (this.high - this.low);
  }
  get ticks() {
    return this.logarithmic && this.high / this.low > 30 ? logarithmicTicks(this.low, this.high) : linearTicks(this.low, this.high);
  }
}

export class Chart {
  #root;
  #read;
  #model = null;
  #zoom = null;
  #hover = null;
  #drag = null;

  /** `root` receives the drawing; `read(points)` is called with what is under the pointer: [{ series, at, lo, hi }] or null. */
  constructor(root, read) {
    this.#root = root;
    this.#read = read;
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerleave", () => this.#leave());
    root.addEventListener("pointerdown", (event) => this.#press(event));
    root.addEventListener("pointerup", (event) => this.#release(event));
    root.addEventListener("dblclick", () => this.reset());
    root.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(root);
  }

  /** `model`: { x, y: { label, low, high, logarithmic }, square, series: [{ name, style, rows: [{ at, lo, hi }] }], guess, description }. */
  show(model) {
    const same = this.#model !== null && this.#model.key === model.key;
    this.#model = model;
    if (!same) this.#zoom = null;
    this.#draw();
  }

  /** Shows nothing; what is in the root stays until the next curve. */
  clear() {
    this.#model = null;
    this.#leave();
  }

  get zoomed() {
    return this.#zoom !== null;
  }

  reset() {
    this.#zoom = null;
    this.#draw();
  }

  #axes(width, height) {
    const box = { left: 52, right: width - 12, top: 10, bottom: height - 46 };
    const x = { ...this.#model.x, ...(this.#zoom?.x ?? {}) };
    const y = { ...this.#model.y, ...(this.#zoom?.y ?? {}) };
    return { box, x: new Axis(x, box.left, box.right), y: new Axis(y, box.bottom, box.top) };
  }

  #draw() {
    if (this.#model === null) return;
    const width = Math.max(260, this.#root.clientWidth);
    const height = Math.round(Math.min(width * (this.#model.square ? 0.92 : 0.8), 470));
    const { box, x, y } = (this.axes = this.#axes(width, height));
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.#model.description });
    svg.append(make("title", {}, this.#model.description));
    const clip = make("clipPath", { id: "plot" });
    clip.append(make("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
    svg.append(clip);
    this.#drawAxes(svg, box, x, y, width, height);
    const plot = make("g", { "clip-path": "url(#plot)" });
    if (this.#model.guess) plot.append(make("path", { class: "guess", d: this.#path(this.#model.guess, x, y) }));
    for (const series of [...this.#model.series].reverse()) this.#drawSeries(plot, series, x, y, box);
    this.cross = make("g", { class: "cross" });
    plot.append(this.cross);
    svg.append(plot);
    this.selection = make("rect", { class: "selection", width: 0, height: 0 });
    svg.append(this.selection);
    this.#root.replaceChildren(svg);
    if (this.#hover !== null) this.#point(this.#hover);
  }

  #drawAxes(svg, box, x, y, width, height) {
    const grid = make("g", { class: "grid" });
    const labels = make("g", { class: "labels" });
    for (const { at, label } of x.ticks) {
      grid.append(make("path", { d: `M${x.place(at)} ${box.top}V${box.bottom}` }));
      labels.append(make("text", { x: x.place(at), y: box.bottom + 18, "text-anchor": "middle" }, label));
    }
    for (const { at, label } of y.ticks) {
      grid.append(make("path", { d: `M${box.left} ${y.place(at)}H${box.right}` }));
      labels.append(make("text", { x: box.left - 8, y: y.place(at) + 4, "text-anchor": "end" }, label));
    }
    labels.append(make("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle", class: "name" }, this.#model.x.label));
    labels.append(make("text", { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "name" }, this.#model.y.label));
    svg.append(grid, labels);
  }

  #path(points, x, y) {
    const places = points.filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!x.logarithmic || a > 0));
    return places.map(([a, b], i) => `${i === 0 ? "M" : "L"}${x.place(a).toFixed(2)} ${Math.min(Math.max(y.place(b), -2000), 4000).toFixed(2)}`).join("");
  }

  #drawSeries(plot, { rows, style }, x, y, box) {
    const below = rows.map(({ at, lo }) => [at, lo]);
    const above = rows.map(({ at, hi }) => [at, hi]);
    const group = make("g", { class: `series ${style}` });
    if (this.#model.shade && style === "plan-a") {
      const last = rows.at(-1).at;
      group.append(make("path", { class: "reach", d: `${this.#path(this.#model.shade === "above" ? below : above, x, y)}L${x.place(last)} ${this.#model.shade === "above" ? box.top : box.bottom}L${x.place(rows[0].at > 0 || !x.logarithmic ? rows[0].at : x.low)} ${this.#model.shade === "above" ? box.top : box.bottom}Z` }));
    }
    group.append(make("path", { class: "band", d: `${this.#path(above, x, y)}${this.#path([...below].reverse(), x, y).replace(/^M/, "L")}Z` }));
    // The line is the end that may be claimed.
    group.append(make("path", { class: "line", d: this.#path(this.#model.safe === "lo" ? below : above, x, y) }));
    plot.append(group);
  }

  #position(event) {
    const bounds = this.#root.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  }

  #move(event) {
    if (this.#model === null) return;
    const [x, y] = this.#position(event);
    if (this.#drag !== null && event.pointerType === "mouse") {
      const [from_x, from_y] = this.#drag;
      for (const [name, value] of Object.entries({ x: Math.min(x, from_x), y: Math.min(y, from_y), width: Math.abs(x - from_x), height: Math.abs(y - from_y) }))
        this.selection.setAttribute(name, value);
    }
    this.#point(this.axes.x.value(x));
  }

  #leave() {
    this.#hover = null;
    this.#drag = null;
    this.cross?.replaceChildren();
    this.#read(null);
  }

  #press(event) {
    if (event.pointerType === "mouse") this.#drag = this.#position(event);
  }

  #release(event) {
    if (this.#drag === null) return;
    const [x, y] = this.#position(event);
    const [from_x, from_y] = this.#drag;
    this.#drag = null;
    this.selection.setAttribute("width", 0);
    if (Math.abs(x - from_x) < 12 || Math.abs(y - from_y) < 12) return;
    const { x: across, y: up } = this.axes;
    const range = (axis, a, b, limits) => ({ low: Math.max(limits.low, Math.min(axis.value(a), axis.value(b))), high: Math.min(limits.high, Math.max(axis.value(a), axis.value(b))) });
    this.#zoom = { x: range(across, x, from_x, this.#model.x), y: range(up, y, from_y, this.#model.y) };
    this.#draw();
  }

  #key(event) {
    if (this.#model === null) return;
    const rows = this.#model.series[0]?.rows ?? [];
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (event.key === "Escape") return this.reset();
    if (step === undefined || rows.length === 0) return;
    event.preventDefault();
    const now = this.#hover === null ? Math.floor(rows.length / 2) : this.#nearest(rows, this.#hover);
    this.#point(rows[Math.min(rows.length - 1, Math.max(0, now + step))].at, true);
  }

  #nearest(rows, value) {
    const distance = (at) => (this.axes.x.logarithmic ? Math.abs(Math.log((at + 1e-320) / value)) : Math.abs(at - value));
    let best = 0;
    for (let i = 1; i < rows.length; ++i) if (distance(rows[i].at) < distance(rows[best].at)) best = i;
    return best;
  }

  // Reads the nearest computed point of each curve: values between points are not computed, so none is shown.
  #point(value, by_key = false) {
    this.#hover = value;
    const { x, y, box } = this.axes;
    this.cross.replaceChildren();
    const found = this.#model.series.map((series) => ({ series, ...series.rows[this.#nearest(series.rows, value)] }));
    if (found.length === 0) return;
    const place = x.place(found[0].at);
    this.cross.append(make("path", { d: `M${place} ${box.top}V${box.bottom}` }));
    for (const { series, at, lo, hi } of found) this.cross.append(make("circle", { class: series.style, cx: x.place(at), cy: y.place(this.#model.safe === "lo" ? lo : hi), r: 4 }));
    this.#read(found, by_key);
  }
}
