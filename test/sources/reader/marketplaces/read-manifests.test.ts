import { expect, test } from "vitest";
import { parseJsonFile } from "../../../../src/sources/reader/marketplaces/read-manifests.ts";

test("JSON of others is not parsed if it has too many keys and values", () => {
  const listOf = (length: number): Buffer => Buffer.from(JSON.stringify(Array(length).fill(7)));
  expect(parseJsonFile(listOf(100_000))).toHaveLength(100_000);
  expect(parseJsonFile(listOf(200_000))).toBeUndefined();
});
