import { expect, onTestFinished, test } from "vitest";
import { createHttpSource, applyChange } from "../../../../src/browser/page/source/http-source.ts";
import { startFakeServer } from "../fake-server.ts";
import { inventRow, inventRows } from "../invented-rows.ts";

test("a connection that is away for an hour is tried again all the time, keeps what is shown, and catches up", async () => {
  const server = await startFakeServer(inventRows(3));
  onTestFinished(() => server.close());
  const hour = 60 * 60_000;
  const waits: number[] = [];
  let waited = 0;
  const shownWhileAway = new Set<number | undefined>();
  const source = createHttpSource(server.address, {
    wait: (milliseconds) => {
      waits.push(milliseconds);
      waited += milliseconds;
      shownWhileAway.add(source.list.value?.skills.length);
      if (waited >= hour) server.returnToService();
      return Promise.resolve();
    },
  });
  onTestFinished(() => {
    source.close();
  });
  const until = (isSo: () => boolean): Promise<void> => expect.poll(isSo, { timeout: 30_000 }).toBe(true);
  await until(() => source.connection.value === "live" && server.listeners() === 1);
  server.dropConnections();
  server.change([inventRow(1, { id: "later", name: "later" })]);
  await until(() => source.list.value?.skills.length === 4);
  expect(source.connection.value).toBe("live");
  expect(waited).toBeGreaterThanOrEqual(hour);
  expect(waits.slice(0, 3)).toEqual([250, 500, 1_000]);
  expect(Math.max(...waits)).toBe(15_000);
  expect([...shownWhileAway]).toEqual([3]);
});

const list = { revision: 4, skills: inventRows(5), unread: [] };

test("puts new and different rows in their place and removes others", () => {
  const edited = inventRow(3, { description: "Edited." });
  const renamed = inventRow(4, { name: "aaa" });
  const next = applyChange(list, { revision: 5, put: [inventRow(9), edited, renamed], removed: ["skill-00001"] });
  expect(next?.skills).toEqual([renamed, inventRow(0), inventRow(2), edited, inventRow(9)]);
  expect(next?.skills[1]).toBe(list.skills[0]);
});

test("ignores what the list has already, and says when something was missed", () => {
  expect(applyChange(list, { revision: 4, put: [], removed: ["skill-00001"] })).toBe(list);
  expect(applyChange(list, { revision: 6, put: [], removed: [] })).toBeUndefined();
});
