import { SkillsError } from "../../../../base/errors.ts";
import type { FetchCommitOptions } from "../fetch-commit.ts";
import type { Refs } from "./resolve-ref.ts";
import { runGit } from "../program/run-git.ts";

/** The refs of a repository over ssh, which only git can ask. */
export async function listRefs(options: Omit<FetchCommitOptions, "commit" | "refs">): Promise<Refs> {
  const { program, remote, home, limits, clock, signal } = options;
  const { succeeded, stdout, stderr } = await runGit(program, {
    args: ["ls-remote", "-q", "--end-of-options", remote.url.url],
    home,
    remote,
    maxBytes: limits.refsBytes,
    timeoutMs: limits.refsMs,
    clock,
    signal,
  });
  if (!succeeded) {
    const hint = "Check that `ssh -o BatchMode=yes` reaches this host with your key, and that its host key is known.";
    const message = `${remote.url.label} cannot be read: git said: ${stderr}.`;
    throw new SkillsError("AUTH_REQUIRED", message, { facts: { hint } });
  }
  const lines = stdout.toString("utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [id = "", name = ""] = line.split("\t");
      return /^[0-9a-f]{40,64}$/.test(id) && name !== "" ? [[name, id] as const] : [];
    }),
  );
}
