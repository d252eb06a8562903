import { expect, test } from "vitest";
import type { Publication } from "../../../src/serve/publish/publication.ts";
import { createListedPages } from "../../../src/serve/routes/rpc.ts";
import type { HttpCaller } from "../../../src/serve/serve-context.ts";

const publication = (): Publication => ({ skills: [], bySlug: new Map() });
const callerOf = (view: string, tools?: readonly string[]): HttpCaller =>
  ({ view, tools: { tools } }) as unknown as HttpCaller;

test("a page is cached for callers with the same view and parameters, until what is published changes", () => {
  let current = publication();
  const pages = createListedPages({ publication: () => current });
  pages.slot(callerOf("all"), { limit: 2 })?.store("page");
  expect(pages.slot(callerOf("all"), { limit: 2 })?.bytes?.toString()).toBe("page");
  expect(pages.slot(callerOf("all"), { limit: 3 })?.bytes?.toString()).toBeUndefined();
  expect(pages.slot(callerOf("anonymous"), { limit: 2 })?.bytes?.toString()).toBeUndefined();
  current = publication();
  expect(pages.slot(callerOf("all"), { limit: 2 })?.bytes?.toString()).toBeUndefined();
});

test("a page that was made before a change is not cached after it", () => {
  let current = publication();
  const pages = createListedPages({ publication: () => current });
  const slot = pages.slot(callerOf("all"), undefined);
  current = publication();
  slot?.store("old");
  expect(pages.slot(callerOf("all"), undefined)?.bytes?.toString()).toBeUndefined();
});

test("a caller without the tool gets no page of others", () => {
  const pages = createListedPages({ publication: () => unchanged });
  pages.slot(callerOf("all"), undefined)?.store("page");
  expect(pages.slot(callerOf("all", ["describe_skill"]), undefined)?.bytes?.toString()).toBeUndefined();
  expect(pages.slot(callerOf("all", ["list_skills"]), undefined)?.bytes?.toString()).toBe("page");
});

const unchanged = publication();

test("long parameters are not cached", () => {
  const pages = createListedPages({ publication: () => unchanged });
  const query = { query: "x".repeat(600) };
  pages.slot(callerOf("all"), query)?.store("page");
  expect(pages.slot(callerOf("all"), query)?.bytes?.toString()).toBeUndefined();
});

test("parameters that hold others are not cached, however deep they are", () => {
  const pages = createListedPages({ publication: () => unchanged });
  let namespace: unknown[] = [];
  for (let level = 0; level < 50_000; level++) namespace = [namespace];
  expect(pages.slot(callerOf("all"), { namespace })).toBeUndefined();
});
