import { SkillsError } from "../../../../base/errors.ts";
import { hasTooManyValues, maxJsonValues, parseIfJson } from "../../../../base/json/json-value.ts";
import { LimitedMap } from "../../../../base/limited-map.ts";
import { requireSuccess } from "../../../fetch/read-answer.ts";
import { type FileTree, listSkillsOf, nameOf, readSkillFrom } from "../../../reader/trees.ts";
import type { RemoteAnswer } from "../../../fetch.ts";
import type { PinnedContent, SourceDriver, SourceDriverOptions } from "../../source-kind.ts";
import { type PublishedVersion, chooseVersion } from "./choose-version.ts";
import { installedLabel, listInstalledPackages, readInstalledSkill } from "./installed-packages.ts";
import { type NpmSettings, readNpmSettings } from "./npm-settings.ts";
import { type WantedPackage, parsePackageText, parsePin, toPin } from "./package-text.ts";
import { packageLimits, skillsInPackage, unpackPackage } from "./unpack-package.ts";
import { badSource } from "../../source-label.ts";

const describing = { maxBytes: 8 * 1024 * 1024, timeoutMs: 20_000 } as const;
const downloading = { maxBytes: packageLimits.packedBytes, timeoutMs: 120_000 } as const;
/** The form with only what an installation needs; a registry that does not know this form sends everything. */
const accept = "application/vnd.npm.install-v1+json, application/json;q=0.9";
/** The number of packages in memory, so that all skills of a package are read from one download. */
const heldPackages = 2;

/** The answer of a registry about a package; "unchanged" if it is the same as at `etag`. */
type Described = { readonly json: unknown; readonly url: string; readonly etag: string | undefined } | "unchanged";

export function openNpmDriver({ fetcher, project = process.cwd() }: SourceDriverOptions): SourceDriver {
  const packages = new LimitedMap<string, Promise<FileTree>>(heldPackages);

  async function describe(
    name: string,
    settings: NpmSettings,
    etags: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Described> {
    const url = `${settings.registryOf(name)}${name.replace("/", "%2f")}`;
    const authorization = settings.authorizationFor(url);
    const etag = etags[url];
    const headers = {
      accept,
      ...(authorization !== undefined && { authorization }),
      ...(etag !== undefined && { "if-none-match": etag }),
    };
    const answer = await fetcher.fetch({ url, headers, ...describing }, signal);
    if (answer.status === 304 && etag !== undefined) return "unchanged";
    const { body, headers: received } = succeeded(answer, name, settings);
    const { host } = new URL(url);
    if (hasTooManyValues(body))
      throw badSource(`${host} answered for ${name} with more than ${maxJsonValues} keys and values, the limit`);
    return { json: parseIfJson(Buffer.from(body).toString("utf8")), url, etag: received["etag"] };
  }

  async function unpack(published: PublishedVersion, registry: string, settings: NpmSettings, signal: AbortSignal) {
    const { tarball, name, version } = published;
    if (fetcher.leadsInside(registry, tarball))
      throw badSource(
        `The tarball of ${name}@${version} is on a private host, to which a public registry must not lead`,
      );
    // The token is for the registry only: other hosts of tarballs do not get it.
    const isHere = new URL(tarball).origin === new URL(registry).origin;
    const authorization = isHere ? settings.authorizationFor(tarball) : undefined;
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await fetcher.fetch({ url: tarball, headers, ...downloading, asSent: true }, signal);
    return await unpackPackage(succeeded(answer, `the tarball of ${name}`, settings).body, published, signal);
  }

  /** Returns the files of a version, which is downloaded once. */
  function filesOf(pin: string, open: () => Promise<FileTree>): Promise<FileTree> {
    const opened = packages.get(pin) ?? open();
    packages.set(pin, opened);
    opened.catch(() => packages.delete(pin));
    return opened;
  }

  async function choose(wanted: WantedPackage, signal: AbortSignal, etags: Readonly<Record<string, string>> = {}) {
    const settings = readNpmSettings();
    const described = await describe(wanted.name, settings, etags, signal);
    if (described === "unchanged") return described;
    const published = chooseVersion(described.json, wanted);
    const pin = toPin(published);
    const open = (): Promise<FileTree> => unpack(published, described.url, settings, signal);
    return { published, pin, described, open };
  }

  return {
    async readIndex(source, { signal, etags }) {
      if (source.label === installedLabel)
        return { source, form: "scheme", ...(await listInstalledPackages(project, signal)) };
      const wanted = parsePackageText(source.label.replace(/^npm:/, ""));
      if (wanted === undefined) throw new TypeError(`${source.label} is no package`);
      const chosen = await choose(wanted, signal, etags);
      if (chosen === "unchanged") return chosen;
      const { published, pin, described } = chosen;
      refuseOther(published, source.ref);
      const tree = await filesOf(pin, chosen.open);
      const { name, version, deprecated, publishedAt } = published;
      const fallback = nameOf(name);
      const locations = skillsInPackage(tree).map((directory) => ({
        directory,
        fallback,
        content: { type: "pinned", source: source.label, pin, place: directory } satisfies PinnedContent,
      }));
      const { skills, problems } = await listSkillsOf(tree, locations, signal);
      return {
        source,
        form: "scheme",
        skills: skills.map((skill) => ({ version, ...skill, ...(publishedAt !== undefined && { publishedAt }) })),
        problems: [
          ...(deprecated === undefined ? [] : [`${name}@${version} is deprecated by its publisher: ${deprecated}`]),
          ...(locations.length === 0 ? [`There is no SKILL.md in ${name}@${version}.`] : []),
          ...problems,
        ],
        ...(described.etag !== undefined && { etags: { [described.url]: described.etag } }),
      };
    },
    async readFiles(content, signal) {
      const { pin, place } = content;
      signal.throwIfAborted();
      if (content.source === installedLabel) return readInstalledSkill(project, content);
      const pinned = parsePin(pin);
      if (pinned === undefined) throw badSource("The lock does not name a version of a package");
      const tree = await filesOf(pin, async () => {
        const chosen = await choose({ name: pinned.name, range: pinned.version }, signal);
        if (chosen === "unchanged") throw new TypeError("not asked whether it changed");
        refuseOther(chosen.published, pinned.integrity);
        return await chosen.open();
      });
      return await readSkillFrom(tree, place, signal);
    },
    close() {
      packages.clear();
      return Promise.resolve();
    },
  };
}

/** Throws SOURCE_INVALID if the registry has other bytes for a version than the locked ones. */
function refuseOther({ name, version, integrity }: PublishedVersion, locked: string | undefined): void {
  if (locked === undefined || locked === integrity) return;
  throw badSource(
    `The registry has other bytes for ${name}@${version} than the lock: ${integrity} instead of ${locked}`,
  );
}

/** Returns the answer if it is a success. Otherwise throws, with the variable that is missing for the user's token, if any. */
function succeeded(answer: RemoteAnswer, what: string, { missing }: NpmSettings): RemoteAnswer {
  const { status, url } = answer;
  const unset =
    missing.length === 0 ? "" : `; its token in your .npmrc needs \${${missing[0] ?? ""}}, which is not set`;
  if (status === 404) throw badSource(`${new URL(url).host} does not have ${what}, or not for you${unset}`);
  if ((status === 401 || status === 403) && unset !== "")
    throw new SkillsError("AUTH_REQUIRED", `${new URL(url).host} answered ${status} for ${what}${unset}.`);
  return requireSuccess(answer, what);
}
