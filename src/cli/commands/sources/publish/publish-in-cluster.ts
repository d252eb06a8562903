import { existsSync } from "node:fs";
import { SkillsError } from "../../../../base/errors.ts";
import { loadClusterAdmin } from "../../../../given-ports.ts";
import { type Settings, readOptions } from "../../../../runtime/options.ts";
import type { InspectedSkill } from "../../../../skills/check.ts";
import { type Signatures, signatureWords } from "../../../../skills/signature.ts";
import { signatureFile } from "../../../../skills/skill.ts";
import { chooseSkills, downloadAll, readNow } from "../../../../sources/install.ts";
import type { SkillFile } from "../../../../sources/reader.ts";
import { parseSource } from "../../../../sources/source.ts";
import { type running, toRunningOptions } from "../../../arguments/running-options.ts";
import type { allowPrivate, token } from "../../../arguments/shared-options.ts";
import { type ExitCode, type OptionValues, exit, usageError } from "../../../command.ts";
import { safeText } from "../../../report/safe-text.ts";
import { type Terminal, interruptible } from "../../../report/terminal.ts";
import { withReader } from "../install/source-options.ts";

/** A skill to publish, with its files and its signature. */
export interface SkillToPublish {
  readonly inspected: InspectedSkill;
  readonly files: readonly SkillFile[];
  readonly signature: Uint8Array | undefined;
}

interface ClusterWords {
  readonly positionals: readonly string[];
  readonly given: OptionValues<{
    readonly cluster: (typeof running)["cluster"];
    readonly token: typeof token;
    readonly "allow-private": typeof allowPrivate;
  }> & { readonly json?: boolean; readonly withdraw?: string };
  readonly signatures: Signatures;
  readonly readDirectory: (directory: string) => Promise<SkillToPublish>;
}

/** Publishes directories, or skills of a source, for all members of a cluster. Returns the exit code. */
export async function publishToCluster(words: ClusterWords, terminal: Terminal): Promise<ExitCode> {
  const { positionals, given, readDirectory } = words;
  const { cluster } = given;
  const settings = readOptions(
    { log: terminal.log, ...toRunningOptions(cluster === undefined ? {} : { cluster }) },
    { home: terminal.home },
  );
  if (settings.cluster === undefined)
    throw usageError(
      "skills are published to registries of OCI artifacts, oci://HOST/REPO[:TAG], or to a cluster: --cluster URL, or ACP_SKILLS_CLUSTER",
    );
  if (given.withdraw !== undefined) return await withdraw(given.withdraw, settings, words, terminal);
  const [first] = positionals;
  if (first === undefined) throw usageError("name the directory of a skill, or a source");
  if (!existsSync(first) && !/^[./~]/.test(first)) return await publishSource(settings, words, terminal);
  const skills: SkillToPublish[] = [];
  for (const directory of positionals) skills.push(await readDirectory(directory));
  return await interruptible(terminal, async (signal) => await publish(skills, { settings, given, terminal, signal }));
}

async function publishSource(settings: Settings, words: ClusterWords, terminal: Terminal): Promise<ExitCode> {
  const { positionals, given, signatures } = words;
  const [text = "", ...names] = positionals;
  const source = parseSource(text);
  return await withReader(given, [source], terminal.cwd, terminal, async (reader, signal, policy) => {
    terminal.progress.show(`reading ${source.label}`);
    const index = await readNow(reader, source, signal);
    const offered = index.skills.map(({ name }) => name);
    if (names.length === 0 && offered.length !== 1)
      throw usageError(`${source.label} offers ${offered.length} skills: name those to publish`);
    const chosen = chooseSkills(index, names.length === 0 ? offered : names);
    const { deniesSigner } = policy;
    const found = await downloadAll(chosen, source, { reader, signatures, deniesSigner, signal });
    const skills = found.map((one): SkillToPublish => {
      if ("why" in one) throw refused(one.remote.name, one.why);
      const { inspected, files, signature } = one;
      if (signature.state === "invalid") throw refused(one.remote.name, signatureWords(signature));
      const bundle = files.find(({ path }) => path === signatureFile);
      return { inspected, files, signature: signature.state === "signed" ? bundle?.bytes : undefined };
    });
    return await publish(skills, { settings, given, terminal, signal });
  });
}

interface Publishing {
  readonly settings: Settings;
  readonly given: ClusterWords["given"];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function publish(
  skills: readonly SkillToPublish[],
  { settings, given, terminal, signal }: Publishing,
): Promise<ExitCode> {
  terminal.progress.show("publishing to the cluster");
  const { publishInCluster } = await loadClusterAdmin();
  const receipts = await publishInCluster(settings, skills, signal);
  terminal.progress.done();
  for (const { slug, version, digest, isNew } of receipts) {
    terminal.note(`${isNew ? "published" : "unchanged"} ${safeText(slug)} ${safeText(version)}`);
    if (given.json !== true) await terminal.print([`${digest}\n`]);
  }
  const rows = receipts.map(({ isNew, ...receipt }) => ({ ...receipt, published: isNew }));
  if (given.json === true) await terminal.printJson({ skills: rows });
  return exit.done;
}

async function withdraw(text: string, settings: Settings, words: ClusterWords, terminal: Terminal): Promise<ExitCode> {
  if (words.positionals.length > 0) throw usageError("--withdraw takes no directories");
  const [name = "", version] = text.split("@");
  const { withdrawInCluster } = await loadClusterAdmin();
  const versions = await withdrawInCluster(settings, { name, version });
  if (words.given.json === true) await terminal.printJson({ name, withdrawn: versions });
  if (versions.length === 0) {
    terminal.note(`${safeText(text)} is not published in the cluster`);
    return exit.found;
  }
  terminal.note(`withdrew ${safeText(name)} ${versions.map((one) => safeText(one)).join(", ")}`);
  return exit.done;
}

function refused(name: string, why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${name} is not published: ${why.replace(/\.$/, "")}.`);
}
