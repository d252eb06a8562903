import { expect, test } from "vitest";
import { defaultDataDirectory } from "../../../src/base/paths/directories.ts";

test.each([
  ["linux", {}, "/home/me", "/home/me/.local/share/acp-skills"],
  ["linux", { XDG_DATA_HOME: "/data" }, "/home/me", "/data/acp-skills"],
  ["linux", { XDG_DATA_HOME: "data" }, "/home/me", "/home/me/.local/share/acp-skills"],
  ["linux", { XDG_DATA_HOME: "" }, "/home/me", "/home/me/.local/share/acp-skills"],
  ["freebsd", {}, "/home/me", "/home/me/.local/share/acp-skills"],
  ["darwin", { XDG_DATA_HOME: "/data" }, "/Users/me", "/Users/me/Library/Application Support/acp-skills"],
  ["win32", { LOCALAPPDATA: "D:\\Local" }, "C:\\Users\\me", "D:\\Local\\acp-skills"],
  ["win32", {}, "C:\\Users\\me", "C:\\Users\\me\\AppData\\Local\\acp-skills"],
  ["linux", { ACP_SKILLS_HOME: "/own", XDG_DATA_HOME: "/data" }, "/home/me", "/own"],
  ["linux", { ACP_SKILLS_HOME: "" }, "/home/me", "/home/me/.local/share/acp-skills"],
  ["win32", { ACP_SKILLS_HOME: "D:\\own" }, "C:\\Users\\me", "D:\\own"],
] as const)("on %s with environment %j and home %s, the data directory is %s", (platform, env, home, directory) => {
  expect(defaultDataDirectory(home, env, platform)).toBe(directory);
});
