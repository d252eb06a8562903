/**
 * The marks around text that acp-skills inserts into prompts, and the removal of that text where agents show prompts: replays, titles and
 * session lists. Agents format resources, join blocks and truncate texts in different ways.
 */

/** The id of the marks, which nobody types by chance. It comes first, so that a mark is recognised even in a truncated title. */
const id = "q7x2m9";
const opening = `<${id}-acp-skills`;
const closing = `</${id}-acp-skills>`;
const closingInText = new RegExp(`<(?=/\\s*(?:${id}-)?acp-skills)`, "gi");
const indexLabel = new RegExp(`^${opening} index="([^"]*)">`);
/** The maximum length of a mark that begins with `opening`. */
const maxMarkLength = 256;

/** Puts a text between marks, which the text itself cannot close. `label` must have no quotes or angle brackets. */
export function toInserted(kind: "index" | "skill", label: string, text: string): string {
  return `${opening} ${kind}="${label}">\n${text.replace(closingInText, "&lt;").trim()}\n${closing}`;
}

/** Makes the URI of a skill's text in a prompt. It is not a file URI, so that a file that the user attached is never taken for it. */
export function insertedUri(slug: string): string {
  return `acp-skills:skill/${slug}`;
}

/** Converts the user's invocation of a skill to a sentence for the model. */
export function toInvocationSentence(slug: string, words: string): string {
  return words.trim() === "" ? `Use the skill "${slug}".` : `Use the skill "${slug}": ${words}`;
}

/** The texts that agents put before and after the URI when they show a resource. */
const beforeAddress = /(?:(?:Content from |File: )?(?:\[@?(?:[^\]\n]{0,200}\]\()?|@|<context ref=")|File: )$/;
const afterAddress = /^(?:">|[)\]])?:?/;
const address = /acp-skills:skill\/[a-z0-9.-]{1,64}/;
/** The texts that agents put around a resource. */
const frames = ["--- Content from referenced context ---", "--- End of content ---", "</context>"];
const sentence = /^\s*Use the skill "([a-z0-9]+(?:[.-][a-z0-9]+)*)"(?:\.\s*|: ?([\s\S]*))$/;
/** The invocation sentence, truncated within the name. */
const cutSentence = /^Use the skill "([a-z0-9.-]+)(…|\.{3})?$/;

/** Restores the text that the user typed from a text in which an agent shows a prompt. A text without insertions is unchanged. */
export function restoreTyped(text: string): string {
  const without = text.includes(opening) || text.includes("acp-skills:") ? withoutInsertions(text) : text;
  const [match, slug = "", words = ""] = sentence.exec(without) ?? [];
  if (match === undefined) return without;
  return words.trim() === "" ? `/${slug}` : `/${slug} ${withoutLastBreaks(words)}`;
}

/** Removes line breaks at the end. A regular expression would take quadratic time. */
function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

/** Removes insertions in one pass, because all other messages wait for it. */
function withoutInsertions(text: string): string {
  const marks = openMarkFilter();
  let remaining = marks.read(text) + marks.end();
  for (let found = address.exec(remaining), from = 0; found !== null; found = address.exec(remaining.slice(from))) {
    const start = from + found.index;
    const before = remaining.slice(Math.max(0, start - maxFrameLength), start);
    const lead = beforeAddress.exec(before)?.[0] ?? "";
    const rest = remaining.slice(start + found[0].length);
    // Inside a text, a URI without a lead was typed by the user.
    if (lead === "" && start > 0) from = start + found[0].length;
    else {
      remaining =
        remaining.slice(0, start - lead.length).trimEnd() + rest.slice(afterAddress.exec(rest)?.[0].length ?? 0);
      from = 0;
    }
  }
  return withoutFrames(remaining).trimEnd();
}

const maxFrameLength = 256;

function withoutFrames(text: string): string {
  let remaining = text;
  // Frames can be nested.
  for (let before: string | undefined; before !== remaining;) {
    before = remaining;
    for (const frame of frames) {
      const trimmed = remaining.trim();
      if (trimmed.endsWith(frame)) remaining = trimmed.slice(0, -frame.length).trimEnd();
      else if (trimmed.startsWith(frame)) remaining = trimmed.slice(frame.length).trimEnd();
    }
  }
  return remaining;
}

/** Restores the text that the user typed from a title, which is the beginning of a prompt, on one line, truncated at any position. */
export function restoreTitle(title: string): string {
  return restoreTyped(withoutAddress(withoutCutMark(title))).replace(cutSentence, "/$1$2");
}

/** Removes the URI of an insertion, and all text after it, from a title. The URI may be truncated after its first colon. */
function withoutAddress(title: string): string {
  const start = title.search(/ (?:\[@?[^\] ]{0,200}\]?\(?|@|\[)?acp-skills:(?:skill\/|[skil]{0,5}(?:…|\.{3})?$)/);
  return start === -1 || !title.includes(sentenceStart) ? title : title.slice(0, start);
}

/** Removes the truncated beginning of a mark. Fewer than 4 characters cannot be recognised. */
function withoutCutMark(title: string): string {
  const [end = ""] = /(?:…|\.{3})$/.exec(title) ?? [];
  const text = title.slice(0, title.length - end.length);
  for (let length = opening.length - 1; length >= 4; length--)
    if (text.endsWith(opening.slice(0, length))) return text.slice(0, -length).trimEnd();
  return title;
}

/** Removes insertions from one prompt that an agent replays in chunks. `found` receives the label of each index of skills in it. */
export class InsertionFilter {
  readonly #marks: ReturnType<typeof openMarkFilter>;
  #isAtStart = true;
  /** Text that is held back because it may be the beginning of the invocation sentence. */
  #start = "";

  constructor(found: (label: string) => void) {
    this.#marks = openMarkFilter(found);
  }

  /** Returns the text of a chunk that may be shown; empty if all of it is inserted or held back. */
  read(chunk: string): string {
    const text = this.#start + chunk;
    this.#start = "";
    if (this.#isAtStart && mayBeSentence(text)) {
      this.#start = text;
      return "";
    }
    const shown = this.#marks.read(text);
    if (shown === "") return "";
    this.#isAtStart = false;
    const isUntouched = shown === chunk && !shown.includes("acp-skills:") && !sentence.test(shown);
    return isUntouched ? shown : restoreTyped(shown);
  }

  /** Returns the text that was held back because it could have been the beginning of an insertion. */
  end(): string {
    const rest = restoreTyped(this.#marks.read(this.#start) + this.#marks.end());
    this.#start = "";
    return rest;
  }
}

/** Creates a filter that removes everything between marks from a text that arrives in chunks. */
function openMarkFilter(found: (label: string) => void = () => undefined) {
  let held = "";
  let isInside = false;
  return {
    /** Returns the text that is certainly outside of marks. */
    read(text: string): string {
      held += text;
      let shown = "";
      for (;;) {
        if (isInside) {
          const end = held.indexOf(closing);
          if (end === -1) {
            held = suffixThatMayBe(held, closing);
            return shown;
          }
          held = held.slice(end + closing.length);
          isInside = false;
        }
        const start = held.indexOf(opening);
        if (start === -1) {
          const incomplete = suffixThatMayBe(held, opening);
          shown += held.slice(0, held.length - incomplete.length);
          held = incomplete;
          return shown;
        }
        const mark = held.slice(start, start + maxMarkLength).indexOf(">");
        if (mark === -1 && held.length - start >= maxMarkLength) {
          // Marks are shorter, so the user typed this text.
          shown += held.slice(0, start + opening.length);
          held = held.slice(start + opening.length);
          continue;
        }
        shown += held.slice(0, start).trimEnd();
        held = held.slice(start);
        if (mark === -1) return shown;
        const [, label] = indexLabel.exec(held) ?? [];
        if (label !== undefined) found(label);
        isInside = true;
      }
    },

    /** Returns the text that was held back, unless it is inserted text. */
    end(): string {
      const rest = isInside || held.startsWith(opening) ? "" : held;
      held = "";
      return rest;
    },
  };
}

/** Finds the longest end of a text that can be the beginning of a mark. */
function suffixThatMayBe(text: string, mark: string): string {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return mark.slice(0, length);
  return "";
}

const sentenceStart = 'Use the skill "';

/** Whether a text can be the beginning of the invocation sentence. */
function mayBeSentence(text: string): boolean {
  if (text.length < sentenceStart.length) return text !== "" && sentenceStart.startsWith(text);
  return /^Use the skill "[a-z0-9.-]{0,64}"?(?:\.|: ?)?$/.test(text);
}
