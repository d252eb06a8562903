import { expect, test } from "vitest";
import type { Surroundings } from "../../../../../src/cli/commands/setup/editor.ts";
import { editorNamed } from "../../../../../src/cli/commands/setup/editors.ts";

function placesOf(
  name: string,
  platform: NodeJS.Platform,
  env: Surroundings["env"] = {},
  home = "/home/me",
): readonly string[] {
  const where = { home, platform, env, exists: () => false, wrapper: ["/node", "/main.js"] as const };
  return editorNamed(name).editor.places(where);
}

test.each([
  ["zed", "linux", {}, "/home/me/.config/zed/settings.json"],
  ["zed", "linux", { XDG_CONFIG_HOME: "/etc/mine" }, "/etc/mine/zed/settings.json"],
  ["zed", "linux", { XDG_CONFIG_HOME: "relative" }, "/home/me/.config/zed/settings.json"],
  ["zed", "darwin", {}, "/home/me/.config/zed/settings.json"],
  ["zed", "win32", {}, "/home/me/AppData/Roaming/Zed/settings.json"],
  ["zed", "win32", { APPDATA: "/roaming" }, "/roaming/Zed/settings.json"],
  ["zed", "win32", { APPDATA: "" }, "/home/me/AppData/Roaming/Zed/settings.json"],
  ["vscode", "linux", {}, "/home/me/.config/Code/User/settings.json"],
  ["vscode", "darwin", {}, "/home/me/Library/Application Support/Code/User/settings.json"],
  ["vscode", "win32", { APPDATA: "/roaming" }, "/roaming/Code/User/settings.json"],
  ["jetbrains", "win32", {}, "/home/me/.jetbrains/acp.json"],
  ["acpx", "darwin", {}, "/home/me/.acpx/config.json"],
] as const)("%s on %s with %j is configured in %s", (name, platform, env, place) => {
  expect(placesOf(name, platform, env)[0]).toBe(place);
});

test("every product of VS Code has its own directory on each platform", () => {
  for (const platform of ["linux", "darwin", "win32"] as const) {
    const places = placesOf("vscode", platform);
    expect(new Set(places).size).toBe(4);
    expect(places.join()).toContain("Cursor/User/settings.json");
  }
});
