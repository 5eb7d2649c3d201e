// SPDX-License-Identifier: Apache-2.0
// The plan as the fragment of a link. A fragment is never sent to a server.

const longest = 20000; // characters; a longer fragment is not read

const short = (text, most) => String(text).slice(0, most);

/** `plan=...&delta=...`, and `with=...` for each plan that is kept for comparison. */
export function encodeLink({ plan, delta, neighbours, kept }) {
  const fields = new URLSearchParams({ plan, delta });
  if (neighbours) fields.set("neighbours", neighbours);
  for (const one of kept) fields.append("with", JSON.stringify([one.plan, one.delta, one.neighbours]));
  return fields.toString();
}

function keptOf(text) {
  try {
    const [plan, delta, neighbours] = JSON.parse(text);
    if ([plan, delta, neighbours].every((part) => typeof part === "string")) return [{ plan, delta: short(delta, 40), neighbours: relation(neighbours) }];
  } catch {
    // not one of our links: leave it out
  }
  return [];
}

const relation = (word) => (["add-remove", "replace-one", "zero-out"].includes(word) ? word : "");

/** What a fragment says, or null. Everything in it is text: it is shown as text and asked as text. */
export function decodeLink(fragment) {
  if (fragment === "" || fragment.length > longest) return null;
  const fields = new URLSearchParams(fragment);
  const plan = fields.get("plan");
  if (plan === null) return null;
  return { plan, delta: short(fields.get("delta") ?? "1e-5", 40), neighbours: relation(fields.get("neighbours")), kept: fields.getAll("with").flatMap(keptOf) };
}
