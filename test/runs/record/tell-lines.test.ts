import { expect, test } from "vitest";
import { tellLines } from "../../../src/runs/record/tell-lines.ts";

function open() {
  const told: string[] = [];
  return { told, ...tellLines((text) => told.push(text)) };
}

test("whole lines are told, together when they come together, and the rest at the end", () => {
  const { told, push, end } = open();
  for (const text of ["one\ntwo\nth", "ree", "\n", "fo", "ur"]) push(text);
  expect(told).toEqual(["one\ntwo\n", "three\n"]);
  end();
  end();
  expect(told).toEqual(["one\ntwo\n", "three\n", "four"]);
});

test("a line that does not end is told in pieces", () => {
  const { told, push } = open();
  push("x".repeat(5000));
  expect(told.map((text) => text.length)).toEqual([2048, 2048, 904]);
});

test.each([
  ["in many small lines", () => "x\n"],
  ["in long ones", () => "x".repeat(2000) + "\n"],
])("a flood %s is told only at its beginning", (_how, line) => {
  const { told, push, end } = open();
  for (let count = 0; count < 100_000; count++) push(line());
  end();
  expect(told.length).toBeLessThanOrEqual(1001);
  expect(told.join("").length).toBeLessThan(70_000);
  expect(told.filter((text) => text.includes("the rest is in the log"))).toHaveLength(1);
  expect(told.at(-1)).toContain("the rest is in the log");
});
