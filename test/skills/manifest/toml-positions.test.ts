import { expect, test } from "vitest";
import { createTomlPositions } from "../../../src/skills/manifest/toml-positions.ts";

const toml = [
  'name = "a" # x = 1',
  "",
  "[inputs.sheet]",
  'type = "blob"',
  "",
  "[inputs]",
  'row = { type = "integer", required = true }',
  'text = """',
  'type = "no"',
  '"""',
  "[permissions]",
  '  network = ["😀"]',
].join("\r\n");

test.each([
  [["name"], 1, 8],
  [["version"], 1, 1],
  [["inputs", "sheet", "type"], 4, 8],
  [["inputs", "sheet", "missing"], 3, 1],
  [["inputs", "row", "required"], 7, 7],
  [["permissions", "network", 0], 12, 13],
  [["type"], 1, 1],
])("in TOML the value at %j is at line %d, column %d", (path, line, column) => {
  expect(createTomlPositions(toml)(path)).toMatchObject({ line, column });
});

test.each([
  [`description = "use ''' here"\nfoo = 1\n`, ["foo"], 2, 7],
  ["# \"\"\" '''\nfoo = 1\n", ["foo"], 2, 7],
  [`a = 'b"""'\nfoo = 1\n`, ["foo"], 2, 7],
  ['a = "\\"""" # "\nfoo = 1\n'.replace('""""', '""'), ["foo"], 2, 7],
  ["a = '''\nfoo = 2\n'''''\nfoo = 1\n", ["foo"], 4, 7],
  ['network = [ # ]\n  "a",\n  # "b",\n\n  "b",\n]\n', ["network", 1], 1, 11],
  ['runtime = { export = "entrypoint", entrypoint = "../x.py" }\n', ["runtime", "entrypoint"], 1, 11],
  ['a = ["""\nb = 1\n""", # b = 2\n"b = 3"]\nb = 4 # 5\n', ["b"], 5, 5],
  ["a.b.c = 1\n", ["a", "b"], 1, 1],
  ["a . 'b.c' = 1\n", ["a", "b.c"], 1, 13],
  ["a = 1979-05-27 07:32:00\nb = +inf\n", ["b"], 2, 5],
  ["a = [\n 1,\n]\n[b] # [c]\nd = 1\n", ["b", "d"], 5, 5],
])("in %j the value at %j is at line %d, column %d", (text, path, line, column) => {
  expect(createTomlPositions(text)(path)).toMatchObject({ line, column });
});

test("returns the ranges of values and keys", () => {
  const text = '[inputs.sheet] # why\nmy.type = "blob" # x\n';
  const positionOf = createTomlPositions(text);
  const shown = (path: string[], part?: "key" | "value"): string => {
    const { line, column, endLine, endColumn } = positionOf(path, part);
    return `${line}:${column}-${endLine}:${endColumn}`;
  };
  expect(shown(["inputs", "sheet"])).toBe("1:1-1:15");
  expect(shown(["inputs", "sheet", "my", "type"])).toBe("2:11-2:17");
  expect(shown(["inputs", "sheet", "my", "type"], "key")).toBe("2:1-2:8");
});
