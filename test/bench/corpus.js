import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { inventSkills } from "./invented-skills.js";

/**
 * @typedef {object} Corpus
 * @property {string} root the directory that contains one directory per skill
 * @property {string[]} files the path of each SKILL.md
 * @property {string} list a file that lists `files`, one per line
 */

/**
 * @typedef {{ readonly name: string, readonly bytes: Buffer }} Sample
 */

/**
 * Real skills below `directory`, or invented ones.
 * @param {string | undefined} directory
 * @returns {Sample[]}
 */
export function readSamples(directory) {
  if (directory === undefined) {
    return [...inventSkills(2_500)].map(({ name, text }) => ({ name, bytes: Buffer.from(text) }));
  }
  const samples = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => basename(path) === "SKILL.md")
    .sort()
    .map((path) => ({ name: basename(dirname(join(directory, path))), bytes: readFileSync(join(directory, path)) }));
  if (samples.length === 0) throw new Error("There is no SKILL.md below the --corpus directory.");
  return samples;
}

/**
 * Writes `count` skills below `folder`, repeating the samples. Names are made unique, also in the frontmatter, because thousands of
 * duplicates would mostly produce problems.
 * @param {string} folder
 * @param {readonly Sample[]} samples
 * @param {number} count
 * @returns {Corpus}
 */
export function writeCorpus(folder, samples, count) {
  const root = join(folder, `skills-${count}`);
  mkdirSync(root, { recursive: true });
  /** @type {string[]} */
  const files = [];
  for (let index = 0; index < count; index++) {
    const { name, bytes } = samples[index % samples.length] ?? { name: "", bytes: Buffer.alloc(0) };
    const directory = join(root, `${name}-${index}`);
    const file = join(directory, "SKILL.md");
    mkdirSync(directory);
    writeFileSync(file, withSuffix(bytes, `-${index}`));
    files.push(file);
  }
  const list = join(folder, `skills-${count}.txt`);
  writeFileSync(list, files.join("\n"));
  return { root, files, list };
}

/**
 * @param {Buffer} bytes
 * @param {string} suffix
 */
function withSuffix(bytes, suffix) {
  const head = bytes.subarray(0, 4096).toString("latin1");
  const name = /^name:[ \t]*["']?[A-Za-z0-9._ -]*[A-Za-z0-9]/m.exec(head);
  if (name === null) return bytes;
  const end = name.index + name[0].length;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(suffix), bytes.subarray(end)]);
}
