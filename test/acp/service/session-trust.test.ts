import { expect, test } from "vitest";
import { createTrustSignals } from "../../../src/acp/service/local-service.ts";
import type { Trust } from "../../../src/runtime/trust.ts";
import { openTrust } from "../../runtime/trust/open-trust.ts";

const pdf = {
  name: "pdf",
  slug: "pdf",
  version: "1.0.0",
  isOwn: false,
  source: "/project/.agents/skills",
  directory: "/project/.agents/skills/pdf",
};
const signal = new AbortController().signal;
const mayRead = async (trust: Trust, owner: string): Promise<boolean> =>
  (await trust.mayRead(pdf, { owner, transport: "mcp", directory: "/project" }, signal)).allowed;

test("keeps what people did until trust is loaded", async () => {
  let load: (trust: Trust) => void = () => undefined;
  const signals = createTrustSignals({
    onTrust: (listener) => {
      load = listener;
    },
  });
  signals.consent("one", pdf.directory);
  signals.consent("two", pdf.directory);
  signals.newTurn("one");
  signals.endSession("two");
  const { trust } = openTrust();
  load(trust);
  expect([await mayRead(trust, "one"), await mayRead(trust, "two")]).toEqual([true, false]);
});

test("passes on what people do once trust is loaded", async () => {
  const { trust } = openTrust();
  const signals = createTrustSignals({
    onTrust: (listener) => {
      listener(trust);
    },
  });
  expect(await mayRead(trust, "one")).toBe(false);
  signals.consent("one", pdf.directory);
  expect(await mayRead(trust, "one")).toBe(true);
  signals.endSession("one");
  expect(await mayRead(trust, "one")).toBe(false);
});
