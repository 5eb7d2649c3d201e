// SPDX-License-Identifier: Apache-2.0
// Asks the library, which runs in a worker. Questions are answered in order; a question can be cancelled by ending the worker.

/** The library is compiled once, here, while its file arrives; every worker gets the same compiled code. */
const library = WebAssembly.compileStreaming(fetch("tradeoff.wasm")).catch(
  async () => WebAssembly.compile(await (await fetch("tradeoff.wasm")).arrayBuffer()), // a server that does not name the type of the file
);
library.catch(() => {}); // the engine tells it

/** An answer that did not come because its question was cancelled. */
export class Cancelled extends Error {}

/** A refusal by the library: `kind`, `message`, the field, and the byte in the plan where the fault is. */
export class Refusal extends Error {
  constructor({ kind, message, at, field }) {
    super(message);
    Object.assign(this, { kind, at, field });
  }
}

export class Engine {
  #worker = null;
  #waiting = []; // questions not yet sent: { question, resolve, reject, key }
  #current = null;
  #id = 0;
  #listener;

  /** `listener(state)` is told "loading", "idle" or "busy". */
  constructor(listener = () => {}) {
    this.#listener = listener;
    this.#start();
  }

  /** The answer to a question. Of several waiting questions with the same `key`, only the last is asked. One that takes more than `most` milliseconds is refused. */
  ask(question, { key = null, most = Infinity } = {}) {
    return new Promise((resolve, reject) => {
      if (key !== null) {
        const older = this.#waiting.filter((one) => one.key === key);
        this.#waiting = this.#waiting.filter((one) => one.key !== key);
        for (const one of older) one.reject(new Cancelled());
      }
      this.#waiting.push({ question, resolve, reject, key, most });
      this.#next();
    });
  }

  /** Ends every question whose key starts with the prefix; one that is being computed is ended with its worker. */
  cancel(prefix = "") {
    const matches = (one) => String(one.key ?? "").startsWith(prefix);
    const dropped = this.#waiting.filter(matches);
    this.#waiting = this.#waiting.filter((one) => !matches(one));
    for (const one of dropped) one.reject(new Cancelled());
    if (this.#current !== null && matches(this.#current)) this.#endCurrent();
  }

  /** Drops the waiting questions. The one being computed may finish, unless that takes so long that a new start is quicker. */
  forget(prefix = "", patience = 150) {
    const matches = (one) => String(one.key ?? "").startsWith(prefix);
    const dropped = this.#waiting.filter(matches);
    this.#waiting = this.#waiting.filter((one) => !matches(one));
    for (const one of dropped) one.reject(new Cancelled());
    const current = this.#current;
    if (current === null || !matches(current)) return;
    const end = () => this.#current === current && this.#endCurrent();
    const left = patience - (performance.now() - current.since);
    if (left <= 0) end();
    else setTimeout(end, left);
  }

  /** Ends the worker and every question. */
  close() {
    const left = [...this.#waiting, ...(this.#current === null ? [] : [this.#current])];
    [this.#waiting, this.#current] = [[], null];
    this.#worker.terminate();
    for (const one of left) one.reject(new Cancelled());
  }

  #endCurrent(why = new Cancelled()) {
    const current = this.#current;
    this.#restart();
    current.reject(why);
    this.#next();
  }

  /** The time counts from when the library is there. */
  #limit(current) {
    if (!Number.isFinite(current.most)) return;
    const message = `an answer takes more than ${current.most / 1000} s in this browser; the command line has no such limit`;
    library.then(() => setTimeout(() => this.#current === current && this.#endCurrent(new Refusal({ kind: "too_slow", message, at: 0, field: "plan" })), current.most), () => {});
  }

  #start() {
    this.#listener("loading");
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = () => this.#listener("failed");
    library.then((module) => worker.postMessage({ module }), () => this.#listener("failed"));
    this.#worker = worker;
  }

  #restart() {
    this.#worker.terminate();
    this.#current = null;
    this.#start();
  }

  /** Once more with an empty memory: that of a worker never shrinks, and earlier answers fill it. */
  #tryAgain() {
    const current = this.#current;
    this.#restart();
    this.#waiting.unshift(Object.assign(current, { again: true }));
    this.#next();
  }

  #next() {
    if (this.#current !== null || this.#waiting.length === 0) return;
    this.#current = this.#waiting.shift();
    this.#current.id = ++this.#id;
    this.#current.since = performance.now();
    this.#listener("busy");
    this.#limit(this.#current);
    this.#worker.postMessage({ id: this.#current.id, question: this.#current.question });
  }

  #receive({ ready, failed, id, result, milliseconds }) {
    if (failed) return this.#listener("failed");
    if (ready) return this.#listener(this.#current === null ? "idle" : "busy");
    if (this.#current === null || this.#current.id !== id) return;
    const { resolve, reject } = this.#current;
    if (result.error?.message.startsWith("not enough memory") && !this.#current.again) return this.#tryAgain();
    this.#current = null;
    if (result.broken) this.#restart();
    if (result.error) reject(new Refusal(result.error));
    else resolve({ ...result, milliseconds });
    if (this.#waiting.length === 0) this.#listener("idle");
    this.#next();
  }
}
