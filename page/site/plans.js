// SPDX-License-Identifier: Apache-2.0
// The forms and the plans that they stand for. A form makes a plan; a plan that a form can make fills that form.

const number = "[-+.\\d][-+.\\deE/]*";
const named = (name) => `(?:${name}\\s*=\\s*)?(${number})`;
const pattern = (text) => new RegExp(`^\\s*${text.replaceAll(" ", "\\s*")}\\s*;?\\s*$`);

const noise = `gaussian\\( ${named("sigma")} (, clip = 1 )?\\)`; // with `clip`, a record is replaced
const replaced = `gaussian\\( ${named("sigma")} (, sensitivity = 2 )\\)`;
const training = {
  poisson: pattern(`${noise} \\| poisson\\( ${named("rate")} \\)(?: \\| repeat\\( ${named("times")} \\))?`),
  shuffled: pattern(`${noise} \\| shuffle\\( ${named("batches")} (?:, ${named("passes")} )?\\)`),
  allocated: pattern(`${noise} \\| allocate\\( ${named("steps")} (?:, ${named("passes")} )?\\)`),
  fixed: pattern(`${replaced} \\| sample\\( ${named("size")} , ${named("of")} \\)(?: \\| repeat\\( ${named("times")} \\))?`),
};
const counts = {
  laplace: pattern(`laplace\\( ${named("scale")} (?:, ${named("sensitivity")} )?\\)(?: \\| repeat\\( ${named("times")} \\))?`),
  gaussian: pattern(`gaussian\\( ${named("sigma")} (?:, ${named("sensitivity")} )?\\)(?: \\| repeat\\( ${named("times")} \\))?`),
};
const promise = pattern(`dp\\( ${named("epsilon")} (?:, ${named("delta")} )?\\)(?: \\| repeat\\( ${named("times")} \\))?`);

/** 12 significant digits at most, so that a number made from others stays readable. */
const short = (value) => String(Number(value.toPrecision(12)));

/** The value of a decimal or of a quotient of two. */
export function valueOf(text) {
  const [top, bottom = "1"] = String(text).trim().split("/");
  return Number(top) / Number(bottom);
}

/** The plan of the form for counts. */
export function planOfCounts({ noise: kind, scale, sensitivity, times }) {
  const more = sensitivity === "" || valueOf(sensitivity) === 1 ? "" : `, sensitivity=${sensitivity}`;
  const repeat = times === "" || valueOf(times) === 1 ? "" : ` | repeat(${times})`;
  return `${kind}(${kind === "laplace" ? "scale" : "sigma"}=${scale}${more})${repeat}`;
}

/** The plan of the form for a stated guarantee. */
export function planOfPromise({ epsilon, delta, times }) {
  const more = delta === "" || valueOf(delta) === 0 ? "" : `, delta=${delta}`;
  const repeat = times === "" || valueOf(times) === 1 ? "" : ` | repeat(${times})`;
  return `dp(epsilon=${epsilon}${more})${repeat}`;
}

/** The roundest number of epochs with so many steps: ceil(epochs * examples / batch) = steps. */
function epochsOf(steps, batch, examples) {
  const most = (steps * batch) / examples;
  const least = ((steps - 1) * batch) / examples;
  for (let digits = 1; digits < 15; ++digits) {
    const unit = 10 ** (Math.floor(Math.log10(most)) + 1 - digits);
    const rounded = Number((Math.floor(most / unit + 1e-12) * unit).toPrecision(digits));
    if (rounded > least && rounded <= most) return String(rounded);
  }
  return short(most);
}

/** Batch and examples of a rate: those of the quotient as written, or those of the form if they give the same rate. */
function sizesOf(rate, before) {
  const [batch, examples] = rate.split("/");
  if (examples !== undefined && Number(batch) >= 1) return { batch, examples };
  const all = Number(before.examples) || 10000;
  return { batch: short(valueOf(rate) * all), examples: String(all) };
}

function trainingOf(plan, before) {
  for (const [sampling, form] of Object.entries(training)) {
    const found = form.exec(plan);
    if (found === null) continue;
    const [, sigma, clip, first, second, third] = found;
    const common = { sampling, noise: sigma, relation: clip ? "replace-one" : null };
    if (sampling === "poisson") {
      const sizes = sizesOf(first, before);
      if (!(Number(sizes.batch) >= 1)) return null;
      return { ...common, ...sizes, epochs: epochsOf(Number(second ?? 1), Number(sizes.batch), Number(sizes.examples)) };
    }
    if (sampling === "fixed") return { ...common, batch: first, examples: second, epochs: epochsOf(Number(third ?? 1), Number(first), Number(second)) };
    const batch = Number(before.batch) || 1; // the plan says how many batches there are, not how large they are
    return { ...common, batch: String(batch), examples: short(batch * Number(first)), epochs: second ?? "1" };
  }
  return null;
}

/** The form that makes this plan: { form, values }, or null. `before` has the values of the training form, which a plan may leave open. */
export function formOf(plan, before) {
  for (const [noise_kind, form] of Object.entries(counts)) {
    const found = form.exec(plan);
    if (found !== null)
      return { form: "counts", values: { noise: noise_kind, scale: found[1], sensitivity: found[2] ?? "1", times: found[3] ?? "1" } };
  }
  const stated = promise.exec(plan);
  if (stated !== null) return { form: "promise", values: { epsilon: stated[1], delta: stated[2] ?? "0", times: stated[3] ?? "1" } };
  const trained = trainingOf(plan, before);
  return trained === null ? null : { form: "training", values: trained };
}

/** What a loader that shuffles would run, for a training plan with Poisson sampling; null for any other plan. */
export function shuffledInstead(plan, before) {
  const run = trainingOf(plan, before);
  if (run === null || run.sampling !== "poisson") return null;
  return { noise: run.noise, batch: run.batch, examples: run.examples, epochs: run.epochs, sampling: "shuffled", neighbours: run.relation ?? "zero-out" };
}

/** The place of a byte of the UTF-8 text, as an index of the string. */
export function indexOfByte(text, at) {
  return new TextDecoder().decode(new TextEncoder().encode(text).slice(0, at)).length;
}

export const examples = [
  { name: "Image classifier", plan: "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)", delta: "1e-5" },
  { name: "Shuffled loader", plan: "gaussian(sigma=4) | shuffle(batches=235, passes=4)", delta: "1e-5" },
  { name: "Ten counts", plan: "laplace(scale=5) | repeat(10)", delta: "1e-6" },
  { name: "Census-like", plan: "discrete_gaussian(sigma=20) | repeat(100)", delta: "1e-10" },
  { name: "A vendor's promise", plan: "dp(epsilon=1, delta=1e-6) | repeat(12)", delta: "1e-4" },
  { name: "Everything together", plan: "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)\nlaplace(scale=20) | repeat(5)\ndp(epsilon=0.1)", delta: "1e-5" },
];
