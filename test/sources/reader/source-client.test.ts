import { expect, test } from "vitest";
import { createSourceClient } from "../../../src/sources/reader/source-client.ts";
import { indexLimits } from "../../../src/sources/reader/indexes/collect-skills.ts";
import { fakeFetcher } from "../fake-fetcher.ts";

const signal = new AbortController().signal;

test("what a source answers is cached up to a limit of all answers together", async () => {
  const urls = Array.from({ length: 100 }, (_, page) => `https://example.com/${page}`);
  const body = `"${"x".repeat(indexLimits.bytes - 2)}"`;
  const fetcher = fakeFetcher(Object.fromEntries(urls.map((url) => [url, { body }])));
  const asker = createSourceClient({ fetcher, signal });
  let kept = 0;
  for (const url of urls) {
    const answer = await asker.ask(url);
    if (answer.type === "text") kept += answer.text.length;
    else expect(answer).toMatchObject({ type: "absent", said: expect.stringMatching(/64 MiB together/) as unknown });
  }
  expect(kept).toBe(64 * 1024 * 1024);
  expect(fetcher.asked).toHaveLength(8);
});
