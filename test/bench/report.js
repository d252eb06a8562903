import { cpus, loadavg, release } from "node:os";

/** @import { Summary } from "./measure.js" */

/**
 * One figure with its floor or peer, measured in this run.
 * @typedef {object} Row
 * @property {string} what
 * @property {string} unit
 * @property {Summary} ours
 * @property {{ is: string, value: Summary }} [floor] the minimum work for the same task
 * @property {{ is: string, value: Summary }} [peer] another program that does the same
 * @property {Summary} [ratio]
 * @property {string} [target]
 * @property {boolean} [holds]
 * @property {string} [note]
 */

/** @param {Row} row */
export function toLine(row) {
  const beside = [row.floor, row.peer].flatMap((other) =>
    other === undefined ? [] : [`${other.is} ${show(other.value, row.unit)}`],
  );
  const ratio = row.ratio === undefined ? [] : [`ratio ${show(row.ratio, "×")}`];
  const target = row.target === undefined ? [] : [`target ${row.target}: ${verdict(row)}`];
  return [
    `${row.what}: ${show(row.ours, row.unit)}`,
    ...beside,
    ...ratio,
    ...target,
    ...((row.note ?? "") ? [row.note] : []),
  ].join("; ");
}

/**
 * The table for the README. It describes the machine without identifying it.
 * @param {readonly Row[]} rows
 * @param {string} input
 */
export function toMarkdown(rows, input) {
  const heads = ["what", "ours", "floor or peer", "ratio", "target", ""];
  const body = rows.map((row) => [
    row.what + (row.note === undefined ? "" : ` (${row.note})`),
    show(row.ours, row.unit),
    [row.floor, row.peer].flatMap((other) => (other ? [`${show(other.value, row.unit)}: ${other.is}`] : [])).join("; "),
    row.ratio === undefined ? "" : show(row.ratio, "×"),
    row.target ?? "",
    row.target === undefined ? "" : verdict(row),
  ]);
  const lines = [heads, heads.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
  return `${describeRun(input)}\n\n${lines.join("\n")}\n`;
}

/** A note that the machine is busy, computed before the first figure; empty if it is idle. */
export function describeLoad() {
  const [load = 0] = loadavg();
  return load > cpus().length / 2 ? `; the machine was busy (load ${load.toFixed(1)})` : "";
}

/** @param {string} input */
function describeRun(input) {
  const processors = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${processors.length} cores of ${processors[0]?.model ?? "an unknown CPU"}`;
  return `Measured on ${date}: ${machine}, ${process.platform} ${release()}, Node ${process.versions.node}; ${input}. Median (min–max, n).`;
}

/** @param {Row} row */
function verdict(row) {
  return row.holds === undefined ? "not measured" : row.holds ? "ok" : "over";
}

/**
 * @param {Summary} summary
 * @param {string} unit
 */
function show({ median, min, max, n }, unit) {
  return n === 1
    ? `${short(median)} ${unit}`
    : `${short(median)} ${unit} (${short(min)}–${short(max)}, n ${n.toLocaleString("en")})`;
}

/** @param {number} value */
function short(value) {
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
