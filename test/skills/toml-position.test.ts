import { expect, test } from "vitest";
import { tomlPosition } from "../../src/skills/toml-position.ts";

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
  [["inputs", "row", "required"], 7, 38],
  [["permissions", "network", 0], 12, 13],
  [["type"], 1, 1],
])("in TOML the value at %j stands in line %d, column %d", (path, line, column) => {
  expect(tomlPosition(toml, path)).toEqual({ line, column });
});
