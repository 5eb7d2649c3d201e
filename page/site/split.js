// SPDX-License-Identifier: Apache-2.0
// Splits a budget: all noise of a plan is multiplied by one factor, so that its parts keep their proportions. The search only chooses
// factors; each of them is a plan of its own, and what is said about it is proved by the library.
import { valueOf } from "./plans.js";

/** How a number of the plan changes if the noise grows. */
const powers = { sigma: 1, scale: 1, epsilon: -1, mu: -1, rho: -2 };
const numbers = /\b(sigma|scale|epsilon|mu|rho)=([-+.\d][-+.\deE/]*)/g;

/** How many numbers of the plan say how much noise there is. */
export const countNoises = (plan) => [...plan.matchAll(numbers)].length;

/** The plan with its noise multiplied, in decimals of 6 digits. */
export const withNoise = (plan, factor) => plan.replace(numbers, (_, name, text) => `${name}=${Number((valueOf(text) * factor ** powers[name]).toPrecision(6))}`);

const most_doublings = 40;

/** The least factor, within 0.1 %, with which `meets(plan)` resolves to "yes": { factor, plan, below, fails }; null if there is none. */
export async function leastFactor(plan, meets) {
  let low = null;
  let high = null;
  let fails = false;
  const attempt = async (factor) => {
    const met = await meets(withNoise(plan, factor));
    if (met === "yes") high = factor;
    else [low, fails] = [factor, met === "no"];
    return met === "yes";
  };
  const step = (await attempt(1)) ? 0.5 : 2;
  for (let i = 1; (low === null || high === null) && i <= most_doublings; ++i) await attempt(step ** i);
  if (low === null || high === null) return null;
  while (high > 1.001 * low) await attempt(Number(Math.sqrt(low * high).toPrecision(5)));
  return { factor: high, plan: withNoise(plan, high), below: low, fails };
}
