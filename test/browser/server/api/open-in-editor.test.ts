import { describe, expect, it } from "vitest";
import { editorCommand, openInEditor } from "../../../../src/browser/server/api/open-in-editor.ts";

const place = { file: "/s/pdf/SKILL.md", line: 3, column: 7 };

describe("the person's editor", () => {
  it.each([
    [{ VISUAL: "code --wait" }, ["code", "-g", "/s/pdf/SKILL.md:3:7"]],
    [{ EDITOR: "/opt/zed -n" }, ["/opt/zed", "-n", "/s/pdf/SKILL.md:3:7"]],
    [{ EDITOR: "idea" }, ["idea", "--line", "3", "--column", "7", "/s/pdf/SKILL.md"]],
    [{ EDITOR: "gvim" }, ["gvim", "+3", "/s/pdf/SKILL.md"]],
    [{ VISUAL: "vim", EDITOR: "subl" }, ["subl", "/s/pdf/SKILL.md:3:7"]],
    [{ EDITOR: "code", ACP_SKILLS_EDITOR: "my-editor -x" }, ["my-editor", "-x", "/s/pdf/SKILL.md"]],
  ])("of %o gets the place in its way", (env, command) => {
    expect(editorCommand(place, env)).toEqual(command);
  });

  it("is none that needs a terminal, and the sentence says what to set", async () => {
    for (const EDITOR of ["vim", "nano", "emacs -nw", "", "__proto__", "constructor"]) {
      expect(editorCommand(place, { EDITOR })).toBeUndefined();
      expect(await openInEditor(place, { EDITOR })).toContain("Set ACP_SKILLS_EDITOR to an editor with a window");
    }
  });

  it("gets a path with any characters as one argument, without a shell", () => {
    const file = "/s/pdf/$(touch x); `id` '\".md";
    expect(editorCommand({ file }, { ACP_SKILLS_EDITOR: "my-editor" })).toEqual(["my-editor", file]);
  });

  it("that is not installed is named", async () => {
    expect(await openInEditor(place, { ACP_SKILLS_EDITOR: "/nowhere/editor" })).toContain(
      "The editor /nowhere/editor is not installed.",
    );
  });
});
