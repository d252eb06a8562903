import { describe, expect, it } from "vitest";
import { askForRun, AllowedNext } from "../../../src/browser/server/decide.ts";
import { askAboutProject, askAboutSkill } from "../../../src/runtime/question.ts";
import { noCapabilities } from "../../../src/skills/permissions.ts";

const [digest, other] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);
const version = { name: "net.get", digest: digest ?? "" };
const { signal } = new AbortController();

function question(name: string, of = digest ?? "") {
  const judged = { name, slug: name, version: "1.0.0", digest: of, isOwn: true, source: "/s", directory: "/s/x" };
  return askAboutSkill({ skill: judged, wants: noCapabilities, reach: "everywhere" });
}

describe("what was allowed for the next run", () => {
  it("is for one run of exactly one version", () => {
    const allowed = new AllowedNext();
    allowed.allow(version);
    expect(allowed.take({ ...version, digest: other ?? "" })).toBe(false);
    expect(allowed.take({ ...version, name: "net.put" })).toBe(false);
    expect(allowed.take(version)).toBe(true);
    expect(allowed.take(version)).toBe(false);
  });

  it("answers one question about that version, and no other", async () => {
    const ask = askForRun(version, true);
    expect(await ask(question("net.put"), signal)).toEqual({ missing: "nobody" });
    expect(await ask(question("net.get", other), signal)).toEqual({ missing: "nobody" });
    expect(await ask(askAboutProject("/p", version, "once"), signal)).toEqual({ missing: "nobody" });
    expect(await ask(question("net.get"), signal)).toEqual({ answer: "once" });
    expect(await ask(question("net.get"), signal)).toEqual({ missing: "nobody" });
  });

  it("answers nothing where it was not allowed", async () => {
    expect(await askForRun(version, false)(question("net.get"), signal)).toEqual({ missing: "nobody" });
  });
});
