// SPDX-License-Identifier: Apache-2.0
// Runs the compiled library, one question at a time.
import load from "./tradeoff.js";

const encoder = new TextEncoder();
let started;
/** The library, as soon as the page has sent its compiled code. */
const ready = new Promise((resolve) => (started = resolve)).then((module) =>
  load({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {}; // the exports come later
    },
  }),
);

// The fields of a question as the library reads them: name NUL value NUL. A NUL inside a value would start another field.
function toBytes(question) {
  let text = "";
  for (const [name, value] of Object.entries(question)) text += `${name}\0${String(value).replaceAll("\0", "\ufffd")}\0`;
  return encoder.encode(text);
}

function answer(library, question) {
  const bytes = toBytes(question);
  const place = library._malloc(bytes.length + 1);
  if (place === 0) return { error: { kind: "too_large", message: "the plan does not fit the memory of the page", at: 0, field: "plan" } };
  library.HEAPU8.set(bytes, place);
  try {
    return JSON.parse(library.UTF8ToString(library._tradeoff_answer(place, bytes.length)));
  } finally {
    library._free(place);
  }
}

self.onmessage = async ({ data: { module, id, question } }) => {
  if (module) return started(module);
  let since = performance.now();
  let result;
  try {
    const library = await ready;
    since = performance.now();
    result = answer(library, question);
  } catch (error) {
    // The stack or the memory ended: this worker is of no further use, and the page starts another.
    result = { broken: true, error: { kind: "too_large", message: "the question needs more memory than a page may use", at: 0, field: "plan" } };
    result.error.detail = String(error).slice(0, 200);
  }
  self.postMessage({ id, result, milliseconds: performance.now() - since });
};

ready.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ failed: String(error) }));
