import { realpathSync } from "node:fs";
import path from "node:path";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import { runInSlices } from "../../../base/promises.ts";
import { beginsAsScript } from "../../../base/text/content.ts";
import { shellWord } from "../../../base/text/quoted.ts";
import { inspectSkill } from "../../../skills/check.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../../../skills/files.ts";
import { walkSkill } from "../../../skills/hash.ts";
import { type Signatures, maxBundleBytes, openSignatures, signatureWords } from "../../../skills/signature.ts";
import { signatureFile } from "../../../skills/skill.ts";
import type { SkillFile } from "../../../sources/reader.ts";
import { type PublishableSkill, parseSource, skillLimits, sourceKindOf } from "../../../sources/source.ts";
import { running } from "../../arguments/running-options.ts";
import { allowPrivate, json, token, tokensByOrigin, trustedRoot } from "../../arguments/shared-options.ts";
import { existingDirectory } from "../../arguments/values.ts";
import { defineCommand, exit, flag, text as textOption, usageError } from "../../command.ts";
import { safeText } from "../../report/safe-text.ts";
import { interruptible } from "../../report/terminal.ts";
import type { SkillToPublish } from "./publish/publish-in-cluster.ts";

export const command = defineCommand({
  usage: "publish oci://HOST/REPO[:TAG] DIR… [options] | publish --cluster URL DIR… | SOURCE [NAME…]",
  positionals: { name: "DESTINATION", minimum: 0, maximum: Infinity, values: "files" },
  options: {
    cluster: running.cluster,
    withdraw: textOption("NAME[@VERSION]", "Withdraw a version, or all of a skill, from the cluster."),
    replace: flag("Replace a version that is published with other content."),
    "trusted-root": trustedRoot,
    "allow-private": allowPrivate,
    token,
    json,
  },
  examples: [
    "publish oci://ghcr.io/OWNER/pdf ./skills/pdf",
    "publish oci://ghcr.io/OWNER/skills ./skills/pdf ./skills/sheet",
    "publish --cluster postgres://acp@db.example.com/skills ./skills/pdf",
    "publish OWNER/REPO pdf",
    "publish --withdraw pdf@1.0.0",
  ],
  notes: [
    "DIR is the directory of a skill. One is pushed to REPO itself, several to REPO/NAME each. Hidden files are left out.",
    "Without oci://, to the cluster of --cluster or $ACP_SKILLS_CLUSTER: its servers offer the skill within moments. Versions never change; withdraw one, and publish another.",
    "TAG: default the skill's version, or latest if it has none. A version that is there with other content is replaced with --replace only.",
    "Credentials are what docker login or podman login stored; none are taken from the command line.",
    `A ${signatureFile} in DIR (acp-skills sign) is verified, and attached as its signature.`,
  ],
  async run({ options: given, positionals }, terminal) {
    const [text = "", ...directories] = positionals;
    const signatures = openSignatures(given["trusted-root"]);
    const readDirectory = async (directory: string): Promise<SkillToPublish> =>
      await readPublishable(existingDirectory("DIR", directory), signatures);
    if (!text.startsWith("oci://")) {
      const { publishToCluster } = await import("./publish/publish-in-cluster.ts");
      return await publishToCluster({ positionals, given, signatures, readDirectory }, terminal);
    }
    if (given.cluster !== undefined || given.withdraw !== undefined)
      throw usageError("--cluster and --withdraw are for a cluster, not for a registry: leave out oci://");
    if (directories.length === 0) throw usageError("name the directories of skills after oci://HOST/REPO");
    const source = parseSource(text);
    const publish = sourceKindOf(source.label)?.publish;
    if (publish === undefined) throw new TypeError(`${source.label} has a scheme that skills can be published to`);
    const skills: PublishableSkill[] = [];
    for (const directory of directories) skills.push(toPublishable(await readDirectory(directory)));
    const taken = skills.find(({ slug }, index) => skills.findIndex((other) => other.slug === slug) !== index);
    if (taken !== undefined) throw usageError(`two of the directories are the skill ${taken.slug}`);
    const { openFetcher } = await import("../../../sources/fetch.ts");
    const addresses = { allowPrivate: given["allow-private"] ?? [], typed: [source.url] };
    const fetcher = openFetcher({ ...addresses, tokens: given.token && tokensByOrigin(given.token, [source]) });
    return await interruptible(terminal, async (signal) => {
      try {
        terminal.progress.show(`publishing to ${source.label}`);
        const receipts = await publish(source, skills, {
          ...addresses,
          fetcher,
          signal,
          replaces: given.replace === true,
        });
        terminal.progress.done();
        for (const { slug, source: at, pin, isUnchanged, isSigned, notes } of receipts) {
          const what = `${isUnchanged ? "unchanged" : "published"} ${safeText(slug)}${isSigned ? ", signed" : ""}`;
          terminal.note(`${what}: ${at.label}`, ...notes);
          if (given.json !== true) await terminal.print([`${pin}\nacp-skills add ${shellWord(at.label)}\n`]);
        }
        const rows = receipts.map(({ slug, source: { label }, pin, isUnchanged, isSigned }) => ({
          ...{ slug, source: label, digest: pin, published: !isUnchanged, signed: isSigned },
        }));
        if (given.json === true) await terminal.printJson({ skills: rows });
        return exit.done;
      } finally {
        terminal.progress.done();
        await fetcher.close();
      }
    });
  },
});

function toPublishable({ inspected, files, signature }: SkillToPublish): PublishableSkill {
  const { slug, version, description, expects: allowedTools } = inspected;
  return { slug, version, description, allowedTools, files, signature };
}

/** Reads a skill to publish. Throws SOURCE_INVALID if no agent would be offered it, or its signature is not for these files. */
async function readPublishable(directory: string, signatures: Signatures): Promise<SkillToPublish> {
  const refused = (why: string): SkillsError =>
    new SkillsError("SOURCE_INVALID", `${directory} is not published: ${why.replace(/\.$/, "")}.`);
  const root = realpathSync(directory);
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const files = await readFiles(root, source, refused);
  if (!files.some(({ path: name }) => name === "SKILL.md")) throw refused("it has no SKILL.md");
  const inspected = await inspectSkill(files, path.basename(directory)).catch((error: unknown) => {
    throw isSkillsError(error) ? refused(error.message) : error;
  });
  const found = await signatures.of(source, { directory: root }, inspected.digest);
  if (found.state === "invalid") throw refused(`${signatureWords(found)}; sign it again, or remove ${signatureFile}`);
  const isSigned = found.state === "signed";
  const signature = isSigned ? source.bytes.head(joinPath(root, signatureFile), maxBundleBytes)?.bytes : undefined;
  return { inspected, files, signature };
}

/** Reads the files that the digest of the skill covers. */
async function readFiles(
  root: string,
  { files: disk, bytes }: SkillSource,
  refused: (why: string) => SkillsError,
): Promise<readonly SkillFile[]> {
  const { files, complete } = await runInSlices(walkSkill(disk, root));
  if (!complete || files.length > skillLimits.files) throw refused(`it has more than ${skillLimits.files} files`);
  let left: number = skillLimits.bytes;
  return files.map(({ path: name, real }) => {
    const part = bytes.head(real, left);
    if (part === undefined) throw refused(`${name} cannot be read`);
    if ((left -= part.size) < 0) throw refused(`it has more than ${skillLimits.bytes / 1024 / 1024} MiB of files`);
    return { path: name, bytes: part.bytes, executable: beginsAsScript(part.bytes) };
  });
}
