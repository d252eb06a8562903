import { describe, expect, it } from "vitest";
import type { SkillCallFailure } from "../../../src/runtime/sandbox.ts";
import { codeRun, python, skillOf } from "./runs.ts";
import type { Trial } from "./tier.ts";

class SkillCallError extends Error implements SkillCallFailure {
  readonly type = "TimeoutError";
  readonly runId = "run_inner00001";
}

/** Skills that run elsewhere. */
export function describeBrokered(trial: Trial): void {
  const brokered = ["mail.send"];
  describe("brokered skills", trial.together, () => {
    it("are imported as functions that call the host", () => {
      const code = python`
        from skills.mail.send import main as send

        def main():
            return send({"to": "someone"})
      `;
      return trial.run(codeRun(code, { brokered }), ({ end, host }) => {
        expect(host.calls.map(({ name, args }) => [name, args])).toEqual([["mail.send", { to: "someone" }]]);
        expect(end).toMatchObject({ type: "returned", value: { name: "mail.send" } });
      });
    });

    it("raise SkillError when they fail", () => {
      const code = python`
        import runtime
        from runtime import SkillError

        def main():
            try:
                runtime.skill("mail.send")({})
            except SkillError as error:
                return [error.type, error.message, error.run_id]
      `;
      return trial.run(
        codeRun(code, { brokered }),
        ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: ["TimeoutError", "too slow", "run_inner00001"] }),
        { answers: { callSkill: () => Promise.reject(new SkillCallError("too slow")) } },
      );
    });

    it.each(["mail.read", "../mail.send", "mail.send\0", "", "constructor", "__proto__"])(
      "cannot be called by the unknown name %j",
      (name) => {
        const code = python`
        import runtime

        def main(args):
            try:
                return {"answer": runtime.skill(args["name"])({})}
            except Exception as error:
                return "refused"
      `;
        return trial.run(codeRun(code, { brokered, args: { name } }), ({ end, host }) => {
          expect(end).toMatchObject({ type: "returned", value: "refused" });
          expect(host.calls).toEqual([]);
        });
      },
    );

    it("are called even if an ordinary skill with a similar name is mounted", () => {
      const skills = [skillOf("mail.sender", { "m.py": "def main(args): return 'local'" }, "m.py")];
      const code = "from skills.mail import send, sender\ndef main(): return [send.main({}), sender.main({})]";
      return trial.run(codeRun(code, { brokered, skills }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: [{ name: "mail.send" }, "local"] }),
      );
    });
  });
}
