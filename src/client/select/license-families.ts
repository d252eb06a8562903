/** Families by the letters with which SPDX identifiers and common names of licenses begin. */
const families: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  [...["MIT", "Apache", "BSD", "ISC", "MPL", "EPL", "GPL", "LGPL", "AGPL", "CC", "Unlicense"]].map((family) => [
    family.toLowerCase(),
    family,
  ]),
);

const maxLicense = 200;

/** The families of a license text: `MIT OR Apache-2.0` has two; text that names none that we know is `other`. */
export function licenseFamilies(license: string | undefined): readonly string[] {
  const text = license?.slice(0, maxLicense).trim() ?? "";
  if (text === "") return ["unspecified"];
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const found = words.flatMap((word) => families.get(word) ?? families.get(word.replace(/v$/, "")) ?? []);
  return found.length === 0 ? ["other"] : [...new Set(found)];
}
