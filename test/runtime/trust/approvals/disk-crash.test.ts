import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { dieAtEachChange, isEachKilled } from "../../../base/processes/die-at-each-change.ts";
import { adding, grantOf } from "./grant-of.ts";
import { type ApprovalsDirectory, approvalDirectories } from "./approvals-directory.ts";

const newDirectory = approvalDirectories();
const project = { project: "/project" };
const changingProcess = fileURLToPath(new URL("changing-process.js", import.meta.url));
const dyingProcess = fileURLToPath(new URL("dying-process.js", import.meta.url));

async function grantedIn({ open }: ApprovalsDirectory): Promise<string[]> {
  return (await open().read(project)).grants.map(({ id }) => id).sort();
}

/** What must be, and may be, granted after these confirmations of a process. */
function understand(lines: readonly string[]): { readonly must: readonly string[]; readonly may: readonly string[] } {
  const must = new Set<number>();
  const may = new Set<number>();
  for (const line of lines) {
    const number = Number(line.slice(1));
    if (line.startsWith("+")) {
      must.add(number);
      may.add(number).add(number + 1);
    }
    if (!line.startsWith("+")) must.delete(number);
    if (line.startsWith("-")) may.delete(number);
  }
  const ids = (numbers: Iterable<number>): string[] => Array.from(numbers, (number) => grantOf(number).id).sort();
  return { must: ids(must), may: ids(may) };
}

describe("approvals of many processes", () => {
  test("8 processes that grant and revoke at once lose nothing", async () => {
    const place = newDirectory();
    const first = (index: number): number => 1 + 1_000 * index;
    const children = Array.from({ length: 8 }, (_, index) =>
      execa(process.execPath, [changingProcess, place.directory, String(first(index)), String(first(index) + 11)]),
    );
    const [...results] = await Promise.all(children);
    for (const { stdout, stderr } of results) {
      expect(stderr).toBe("");
      expect(stdout.split("\n")).toHaveLength(12 + 6 + 6);
    }
    const expected = results.flatMap((_, index) => [1, 3, 5, 7, 9, 11].map((step) => grantOf(first(index) + step).id));
    expect(await grantedIn(place)).toEqual(expected.sort());
    expect(place.told).toEqual([]);
  }, 60_000);

  test("a process that is killed at any moment leaves what it confirmed, while another one goes on", async () => {
    const place = newDirectory();
    const lasting = execa(process.execPath, [changingProcess, place.directory, "900001", "900400"], { lines: true });
    const confirmed: string[] = [];
    for (let round = 0; round < (isEachKilled ? 15 : 5); round++) {
      const first = 1 + 1_000 * round;
      const child = execa(process.execPath, [changingProcess, place.directory, String(first), String(first + 900)], {
        lines: true,
        reject: false,
      });
      let seen = 0;
      const own: string[] = [];
      for await (const line of child) {
        own.push(line);
        seen += 1;
        if (seen === 1 + (round % 5)) setTimeout(() => child.kill("SIGKILL"), (round * 7) % 23);
      }
      const { signal, stderr } = await child;
      expect({ signal, stderr: stderr.join("\n") }).toEqual({ signal: "SIGKILL", stderr: "" });
      const { must, may } = understand(own);
      const found = (await grantedIn(place)).filter((id) => {
        const number = Number.parseInt(id.slice("grant_".length), 16);
        return number >= first && number < first + 1_000;
      });
      expect(found).toEqual(expect.arrayContaining([...must]));
      expect(may).toEqual(expect.arrayContaining(found));
      confirmed.push(...must);
    }
    lasting.kill("SIGKILL");
    const { stdout } = await lasting.catch((error: unknown) => error as Awaited<typeof lasting>);
    const { must } = understand(stdout);
    expect(must.length).toBeGreaterThan(0);
    expect(await grantedIn(place)).toEqual(expect.arrayContaining([...confirmed, ...must]));
    expect(place.told).toEqual([]);
  }, 120_000);

  test("a kill at any change of the file system leaves the old or the new approvals, and nothing that is not swept", async () => {
    const latest = await dieAtEachChange({
      program: dyingProcess,
      prepare() {
        const place = newDirectory();
        writeFileSync(place.at("everywhere.json"), "damaged", { mode: 0o600 });
        return place;
      },
      directoryOf: ({ directory }) => directory,
      check: expectSound,
    });
    expect(latest).toBeGreaterThan(30);
  }, 120_000);
});

async function expectSound(place: ApprovalsDirectory, said: string, moment: string): Promise<void> {
  const events = said.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, number>]));
  const store = place.open();
  const numbers = (await store.read(project)).grants.map(({ skill }) => Number(skill.slice("acme.skill".length)));
  const wasSaid = (verb: string, number: number): boolean => events.some((event) => event[verb] === number);
  for (const number of [1, 2]) {
    if (wasSaid("revoked", number)) expect(numbers, moment).not.toContain(number);
    else if (wasSaid("granted", number) && !wasSaid("revoking", number)) expect(numbers, moment).toContain(number);
  }
  expect(place.told, moment).toEqual([]);
  // The damaged file is where it was, or was replaced and moved aside.
  const names = readdirSync(place.directory).filter((name) => name.startsWith("everywhere"));
  expect(names.map((name) => readFileSync(place.at(name), "utf8"))).toContain("damaged");

  await store.change(project, adding(grantOf(9)));
  const grants = (await store.read(project)).grants.map(({ skill }) => skill);
  expect(grants, moment).toEqual([...numbers.map((number) => `acme.skill${number}`), "acme.skill9"]);
  expect(
    readdirSync(place.at("lock")).filter((name) => name.endsWith(".staged")),
    moment,
  ).toEqual([]);
  // While a damaged file may be corrected, no copy is removed.
  await store.change("everywhere", adding(grantOf(8)));
  await store.change(project, (before) => ({ ...before, grants: [] }));
  expect(readdirSync(place.at("copies")), moment).toEqual([]);
}
