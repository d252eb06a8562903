import { describe, expect, it } from "vitest";
import { browserCommand, openInBrowser } from "../../../../src/cli/commands/serve/browse.ts";

const address = "http://127.0.0.1:7331/#code=abc";

describe("the browser that is opened", () => {
  it.each([
    [{ BROWSER: "firefox" }, "linux", ["firefox", address]],
    [{ BROWSER: "chromium --new-window %s:firefox" }, "linux", ["chromium", "--new-window", address]],
    [{ DISPLAY: ":0" }, "linux", ["xdg-open", address]],
    [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", ["xdg-open", address]],
    [{}, "darwin", ["open", address]],
    [{}, "win32", ["rundll32", "url.dll,FileProtocolHandler", address]],
    [{}, "linux", undefined],
  ] as const)("of %o on %s", (env, platform, command) => {
    expect(browserCommand(address, env, platform)).toEqual(command);
  });

  it("is none without a display, or where it does not start; the sentence has no code", async () => {
    const sentences = [
      await openInBrowser(address, { env: {}, platform: "linux" }),
      await openInBrowser(address, { env: { BROWSER: "/nowhere/browser" }, platform: "linux" }),
      await openInBrowser(address, { env: { BROWSER: "false" }, platform: "linux" }),
    ];
    expect(sentences).toEqual([
      "no browser was opened, because there is no display; open the address yourself",
      "no browser was opened: /nowhere/browser is not installed; open the address yourself",
      "no browser was opened: false ended with code 1; open the address yourself",
    ]);
    expect(await openInBrowser(address, { env: { BROWSER: "true" }, platform: "linux" })).toBeUndefined();
  });
});
