import { familyOf } from "./license-expression.ts";
import { findGnuNotice, findNotice, findTags } from "./license-notices.ts";
import { recogniseLicense } from "./recognise-license.ts";

/** What the text of a license file says. */
export interface IdentifiedText {
  /** SPDX expressions: what its words are, and what its `SPDX-License-Identifier:` lines say. Empty if it is not recognized. */
  readonly licenses: readonly string[];
  /** The well-known license whose words are most like its own, if one is similar. 1: the same words. */
  readonly nearest?: { readonly license: string; readonly similarity: number };
}

/** Says which license a text is or names. Pure; takes some milliseconds for long texts. */
export function identifyText(text: string): IdentifiedText {
  const likely = recogniseLicense(text);
  const own = likely?.isSame === true ? withForm(likely.id, text) : findNotice(text);
  const licenses = [...new Set([...(own === undefined ? [] : [own]), ...findTags(text)])];
  return {
    licenses,
    ...(likely !== undefined && { nearest: { license: likely.id, similarity: likely.similarity } }),
  };
}

/** The texts of the GNU licenses do not say whether later versions may be chosen, but a notice before them may. */
function withForm(id: string, text: string): string {
  const notice = findGnuNotice(text);
  return notice !== undefined && familyOf(notice) === id ? notice : id;
}
