/** The text that stands for all packages installed in the project; no package has this name. */
export const installedText = "node_modules";

/** A package and a range of its versions; an empty range is the version that the publisher recommends. */
export interface WantedPackage {
  readonly name: string;
  /** A range of versions in npm's syntax, or a tag. */
  readonly range: string;
}

const plainName = "[A-Za-z0-9~-][A-Za-z0-9._~-]*";
const packageForm = new RegExp(`^((?:@${plainName}/)?${plainName})(?:@([A-Za-z0-9._+^~<>=|* -]{0,128}))?$`);
const maxNameLength = 214;

/** Parses `NAME` or `@SCOPE/NAME`, with or without `@RANGE`; undefined for anything else. */
export function parsePackageText(text: string): WantedPackage | undefined {
  const [, name = "", range = ""] = packageForm.exec(text) ?? [];
  if (name === "" || name.length > maxNameLength || name.toLowerCase() === installedText) return undefined;
  return { name, range: range.trim() };
}

/** One immutable version of a package. Without `integrity`, the lock's hashes of the skill identify its bytes. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 of the whole tarball's hash. */
  readonly integrity: string | undefined;
}

/** Formats `NAME@VERSION`, then a blank and the integrity if there is one. */
export function toPin({ name, version, integrity }: PinnedPackage): string {
  return `${name}@${version}${integrity === undefined ? "" : ` ${integrity}`}`;
}

export function parsePin(pin: string): PinnedPackage | undefined {
  const [, text = "", integrity] = /^(\S{1,512})(?: (sha512-[A-Za-z0-9+/]{86}==))?$/.exec(pin) ?? [];
  const found = parsePackageText(text);
  return found === undefined || found.range === "" ? undefined : { name: found.name, version: found.range, integrity };
}
