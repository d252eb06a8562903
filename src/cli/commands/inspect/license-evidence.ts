import type { LicenseFile, SkillLicense } from "../../../skills/licenses.ts";

/** `LICENSE is MIT; COPYING is not recognized`, and what is stated if it is not a license that we know. */
export function licenseEvidence({ license, status, declared, files }: SkillLicense): string {
  const isUnclear = declared !== undefined && (license === undefined || status === "detected");
  return [...(isUnclear ? [`"${declared}" is stated`] : []), ...files.map(describeFile)].join("; ");
}

function describeFile({ path: file, licenses, nearest, fault }: LicenseFile): string {
  if (fault !== undefined) return `${file} ${fault}`;
  if (licenses.length > 0) return `${file} is ${licenses.join(", ")}`;
  const likeness = nearest && `${Math.floor(nearest.similarity * 1000) / 10} % like ${nearest.license}`;
  return `${file} is not recognized${likeness === undefined ? "" : `, ${likeness}`}`;
}
