import { seededRandom } from "./seeded-random.js";

const words =
  `agent answer api audit batch branch build cache check clean code column commit compare convert count create data debug
   deploy design diff document draft edit error export extract fetch field file filter find fix form format generate graph
   import index input inspect invoice issue label layout library link list log merge message migrate model module name
   number order output page parse patch plan print process project prompt query read record release render report request
   review rule run schema search section server show sort source split style summary table task test text tool trace
   translate update upload validate value version view window write`.split(/\s+/);

/** The cumulative share of each style of frontmatter, as measured over real skills. */
const descriptionStyles = /** @type {const} */ ([
  [0.7, "plain"],
  [0.8, "quoted"],
  [0.85, "folded"],
  [0.9, "literal"],
  [0.96, "tools in brackets"],
  [1, "tools below one another"],
]);

/**
 * Generates realistic skills from a seed: 320 bytes of frontmatter on average and 2,000 at most, bodies of 1 to
 * 40 KB, one in fifty broken.
 * @param {number} count
 * @returns {Generator<{ name: string, text: string }>}
 */
export function* inventSkills(count, seed = 1) {
  const random = seededRandom(seed);
  const word = () => words[Math.floor(random() * words.length)] ?? "word";
  for (let index = 0; index < count; index++) {
    const name = `${word()}-${word()}-${index}`;
    yield { name, text: `${inventFrontmatter(name, random, word)}${inventBody(name, random, word)}` };
  }
}

/**
 * @param {string} name
 * @param {() => number} random
 * @param {() => string} word
 */
function inventFrontmatter(name, random, word) {
  const roll = random();
  const style = descriptionStyles.find(([limit]) => roll < limit)?.[1] ?? "plain";
  // Most are short and a few are very long: a log-normal length.
  const length = Math.min(1_600, Math.round(60 + 145 * Math.exp(0.7 * normal(random))));
  const description = sentence(length, word);
  const lines = ["---", `name: ${name}`];
  switch (style) {
    case "plain":
      lines.push(`description: ${description}`);
      break;
    case "quoted":
      lines.push(`description: "${description} Use when: someone asks to \\"${word()}\\"."`);
      break;
    case "folded":
      lines.push("description: >-", ...folded(description));
      break;
    case "literal":
      lines.push("description: |", ...folded(description));
      break;
    case "tools in brackets":
      lines.push(`description: ${description}`, "allowed-tools: [Read, Grep, Bash(git add *)]");
      break;
    case "tools below one another":
      lines.push(`description: ${description}`, "allowed-tools:", "  - Read", "  - Write", "  - Bash");
      break;
  }
  if (random() < 0.3) lines.push("license: Apache-2.0");
  if (random() < 0.25) lines.push("metadata:", `  author: ${word()}`, `  version: "1.${Math.floor(random() * 20)}"`);
  const fault = random();
  if (fault < 0.008) lines[2] = `description: ${word()}: ${description}`;
  else if (fault < 0.014) lines.splice(2, 1);
  else if (fault < 0.02) return `${lines.join("\n")}\n\n`;
  return `${lines.join("\n")}\n---\n\n`;
}

/**
 * @param {string} name
 * @param {() => number} random
 * @param {() => string} word
 */
function inventBody(name, random, word) {
  const size = Math.min(40_000, Math.round(1_000 + 5_500 * Math.exp(0.8 * normal(random))));
  const paragraph = `${sentence(400, word)}\n\n`;
  return `# ${name}\n\n${paragraph.repeat(Math.ceil(size / paragraph.length)).slice(0, size)}\n`;
}

/**
 * @param {number} length
 * @param {() => string} word
 */
function sentence(length, word) {
  let text = word();
  while (text.length < length) text += ` ${word()}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** @param {string} text */
function folded(text) {
  return (text.match(/.{1,90}(?: |$)/g) ?? [text]).map((line) => `  ${line.trimEnd()}`);
}

/** @param {() => number} random */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
