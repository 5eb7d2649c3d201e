// SPDX-License-Identifier: Apache-2.0
// Files, pictures and code to take away.

/** Offers a file for download. */
export function save(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // without permission for the clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Draws an SVG at twice its size. */
export async function toPng(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * (picture.naturalWidth || 640);
    canvas.height = 2 * (picture.naturalHeight || 480);
    const context = canvas.getContext("2d");
    context.fillStyle = matchMedia("(prefers-color-scheme: dark)").matches ? "#16191d" : "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

const shellWord = (text) => (/^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
/** A text as a literal of Python and C++. */
const literal = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same question elsewhere. */
export function codeFor({ plan, delta, neighbours }) {
  const option = neighbours ? ` --neighbours ${neighbours}` : "";
  const python = neighbours ? `, neighbours=${literal(neighbours)}` : "";
  const cpp = neighbours ? `, tradeoff::Neighbours::${neighbours.replace("-", "_")}` : "";
  return {
    shell: `tradeoff epsilon --delta ${shellWord(delta)}${option} ${shellWord(plan)}`,
    python: `import tradeoff as to\n\ncurve = to.analyze(${literal(plan)}${python})\nprint(curve.epsilon(delta=${literal(delta)}))  # a proved interval`,
    cpp: `#include <iostream>\n#include "tradeoff/tradeoff.h"\n\nint main() {\n  const tradeoff::Plan plan = tradeoff::parse(${literal(plan)});\n  const tradeoff::Curve curve = tradeoff::analyze(plan${cpp});\n  const tradeoff::Interval epsilon = curve.epsilon_at(tradeoff::read_number(${literal(delta)}));\n  std::cout.precision(17);\n  std::cout << epsilon.lo << " to " << epsilon.hi << '\\n';\n}`,
  };
}
