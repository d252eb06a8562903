import { expect, test } from "vitest";
import { compareAgents } from "../../../src/client/select/compare-agents.ts";
import { openSearch } from "../../../src/client/select/search-skills.ts";

const pdf = { name: "pdf", description: "Reads PDF files." };
const csv = { name: "csv", description: "Reads CSV files." };

test("shows which agents have a skill, what most can do first", () => {
  const newer = { ...pdf, version: "2.0.0" };
  const rows = compareAgents([
    { agent: "one", skills: [csv, pdf] },
    { agent: "two", skills: [newer] },
  ]);
  expect(rows).toEqual([
    { ...pdf, byAgent: [pdf, newer], agents: ["one", "two"], differs: true },
    { ...csv, byAgent: [csv, undefined], agents: ["one"], differs: false },
  ]);
  expect(openSearch(rows)("csv").map(({ agents }) => agents)).toEqual([["one"]]);
});

test("does not count an agent that may not use the skill", () => {
  const [row] = compareAgents([{ agent: "one", skills: [{ ...pdf, state: "denied" }] }]);
  expect(row).toMatchObject({ agents: [], byAgent: [{ name: "pdf" }] });
});
