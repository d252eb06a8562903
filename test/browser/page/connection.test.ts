import { expect, test } from "vitest";
import { startFakeServer } from "./fake-server.ts";
import { inventRow, inventRows } from "./invented-rows.ts";
import { closeAfterwards, describeInBrowser, openPage } from "./open-page.ts";

/** What Chromium itself writes to the console when a server goes away, or refuses. */
const lostConnection = /Failed to load resource/;

describeInBrowser("the connection to the server", () => {
  test("says that it was lost, keeps what was shown, and catches up when it is back", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(20)));
    const page = await openPage(server.address, { allow: lostConnection });
    await page.getByRole("option", { name: "skill-00000" }).waitFor();
    server.dropConnections();
    await page.getByText("The server does not answer.").waitFor();
    expect(await page.getByRole("option").count()).toBeGreaterThan(10);
    server.change([inventRow(1, { description: "Written while nobody was connected." })], ["skill-00000"]);
    server.returnToService();
    await page.getByText("Written while nobody was connected.").waitFor();
    await page.getByText("19 of 19 skills").waitFor();
    await page.getByText("The server does not answer.").waitFor({ state: "detached" });
  });

  test("reads the list again after a server that remembers nothing", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(20)));
    const page = await openPage(server.address, { allow: lostConnection });
    await page.getByRole("option", { name: "skill-00000" }).waitFor();
    server.dropConnections();
    await page.getByText("The server does not answer.").waitFor();
    server.startAgain(inventRows(7));
    await page.getByText("7 of 7 skills").waitFor();
  });

  test("says how to get a new address when the session has ended", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(20)));
    const page = await openPage(server.address, { allow: lostConnection });
    await page.getByRole("option", { name: "skill-00000" }).waitFor();
    server.expire();
    await page.getByText("This address is no longer valid.").waitFor();
    expect(await page.getByRole("option").count()).toBeGreaterThan(10);
  });

  test("exchanges the code in the address once, and removes it", async () => {
    const server = closeAfterwards(await startFakeServer(inventRows(3)));
    const page = await openPage(`${server.address}/#code=abc-123`);
    await page.getByRole("option", { name: "skill-00000" }).waitFor();
    expect(page.url()).toBe(`${server.address}/`);
    expect(server.codes).toEqual(["abc-123"]);
    await page.goBack();
    expect(page.url()).not.toContain("code");
  });
});
