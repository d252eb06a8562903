/**
 * @typedef {{ readonly median: number, readonly min: number, readonly max: number, readonly n: number }} Summary
 */

/**
 * @param {readonly number[]} values
 * @returns {Summary}
 */
export function summarise(values) {
  return { median: percentile(values, 0.5), min: Math.min(...values), max: Math.max(...values), n: values.length };
}

/**
 * The value below which `fraction` of the values lie, by nearest rank.
 * @param {readonly number[]} values
 * @param {number} fraction
 */
export function percentile(values, fraction) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN;
}

/**
 * Computed per round, so that a slowdown of the machine affects both.
 * @param {readonly number[]} values
 * @param {readonly number[]} others
 */
export function summariseRatio(values, others) {
  return summarise(pair(values, others).map(([value, other]) => value / other));
}

/**
 * @param {readonly number[]} values
 * @param {readonly number[]} others
 */
export function summariseDifference(values, others) {
  return summarise(pair(values, others).map(([value, other]) => value - other));
}

/**
 * @param {readonly number[]} values
 * @param {readonly number[]} others
 */
function pair(values, others) {
  const common = Math.min(values.length, others.length);
  return values.slice(0, common).map((value, index) => /** @type {const} */ ([value, others[index] ?? Number.NaN]));
}

/**
 * Runs every subject once to warm up, then all in turn, round after round; `rounds` may differ by subject.
 * @template {string} Name
 * @template Measured
 * @param {Record<Name, () => Promise<Measured>>} subjects
 * @param {number | Partial<Record<Name, number>>} rounds
 * @param {{ warmUp?: boolean }} options
 * @returns {Promise<Record<Name, Measured[]>>}
 */
export async function alternate(subjects, rounds, { warmUp = true } = {}) {
  const names = /** @type {Name[]} */ (Object.keys(subjects));
  const measured = /** @type {Record<Name, Measured[]>} */ (
    Object.fromEntries(names.map((name) => [name, /** @type {Measured[]} */ ([])]))
  );
  const roundsOf = (/** @type {Name} */ name) => (typeof rounds === "number" ? rounds : (rounds[name] ?? 0));
  if (warmUp) for (const name of names) await subjects[name]();
  for (let round = 0; names.some((name) => round < roundsOf(name)); round++) {
    for (const name of names) if (round < roundsOf(name)) measured[name].push(await subjects[name]());
  }
  return measured;
}
