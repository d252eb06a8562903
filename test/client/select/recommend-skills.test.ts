import fc from "fast-check";
import { expect, test } from "vitest";
import { openRecommendations } from "../../../src/client/select/recommend-skills.ts";

const skills = [
  { name: "pdf", description: "Read and merge PDF files." },
  { name: "csv", description: "Read CSV files." },
  { name: "deploy", description: "Put containers on a cluster." },
];
const recommend = openRecommendations(skills);
const told = (prompt: string) => recommend(prompt).map(({ skill, words }) => [skill.name, words]);

test("recommends by shared words, rare ones first, and says which", () => {
  expect(told("Please merge the pdfs in these files")).toEqual([
    ["pdf", ["pdfs", "merge", "files"]],
    ["csv", ["files"]],
  ]);
});

test("ignores words that say nothing", () => {
  expect(told("Put it on the and of")).toEqual([]);
});

test("returns at most the number asked for", () => {
  expect(recommend("read files", 1)).toHaveLength(1);
});

test("answers any prompt", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (prompt) => recommend(prompt).length <= skills.length));
});
