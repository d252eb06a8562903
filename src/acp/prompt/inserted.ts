/**
 * What we put into a prompt beside a person's words, and how it is known again where an agent shows a prompt: in replays, in titles and
 * in lists of sessions. Agents spell resources, join blocks and cut texts, each in its own way.
 */

const opening = "<acp-skills";
const closing = "</acp-skills>";
/** The longest that begins with `opening`, with room to spare. */
const longestMark = 256;

/** A text of ours within its marks, which nothing inside can end. `label` has no quotes or angle brackets. */
export function toInserted(kind: "lesson" | "skill", label: string, text: string): string {
  return `${opening} ${kind}="${label}">\n${text.replace(/<(?=\/\s*acp-skills)/gi, "&lt;").trim()}\n${closing}`;
}

/** The address of a skill's text in a prompt; it names no file, so that a file that a person attached is never taken for ours. */
export function insertedUri(slug: string): string {
  return `acp-skills:skill/${slug}`;
}

/** A person's call of a skill, in words that every model understands. */
export function toSentence(slug: string, words: string): string {
  return words.trim() === "" ? `Use the skill "${slug}".` : `Use the skill "${slug}": ${words}`;
}

/** What may stand before and behind the address of an insertion, by which agents show a resource. */
const beforeAddress = /(?:(?:Content from |File: )?(?:\[@?(?:[^\]\n]{0,200}\]\()?|@|<context ref=")|File: )$/;
const afterAddress = /^(?:">|[)\]])?:?/;
const address = /acp-skills:skill\/[a-z0-9.-]{1,64}/;
/** What agents put around a resource, of which nothing is left. */
const frames = ["--- Content from referenced context ---", "--- End of content ---", "</context>"];
const sentence = /^\s*Use the skill "([a-z0-9]+(?:[.-][a-z0-9]+)*)"(?:\.\s*|: ?([\s\S]*))$/;
/** A sentence that its agent has cut within the name. */
const cutSentence = /^Use the skill "([a-z0-9.-]+)(…|\.{3})?$/;

/** What a person typed, of a text in which an agent shows a prompt. A text in which there is nothing of ours stays as it is. */
export function restoreTyped(text: string): string {
  const without = text.includes(opening) || text.includes("acp-skills:") ? withoutInsertions(text) : text;
  const [match, slug = "", words = ""] = sentence.exec(without) ?? [];
  if (match === undefined) return without;
  return words.trim() === "" ? `/${slug}` : `/${slug} ${withoutLastBreaks(words)}`;
}

/** An expression would look for the end again at every line break. */
function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

/** Works through a text from its beginning once, because it holds up every other message. */
function withoutInsertions(text: string): string {
  let kept = "";
  let rest = text;
  for (let start = rest.indexOf(opening); start !== -1; start = rest.indexOf(opening)) {
    if (rest.length - start >= longestMark && !rest.slice(start, start + longestMark).includes(">")) {
      kept += rest.slice(0, start + opening.length);
      rest = rest.slice(start + opening.length);
      continue;
    }
    kept += rest.slice(0, start).trimEnd();
    const end = rest.indexOf(closing, start);
    rest = end === -1 ? "" : rest.slice(end + closing.length);
  }
  kept += rest;
  for (let found = address.exec(kept), from = 0; found !== null; found = address.exec(kept.slice(from))) {
    const start = from + found.index;
    const before = kept.slice(Math.max(0, start - longestFrame), start);
    const lead = beforeAddress.exec(before)?.[0] ?? "";
    const rest = kept.slice(start + found[0].length);
    // Elsewhere it is a word of the person's.
    if (lead === "" && start > 0) from = start + found[0].length;
    else {
      kept = kept.slice(0, start - lead.length).trimEnd() + rest.slice(afterAddress.exec(rest)?.[0].length ?? 0);
      from = 0;
    }
  }
  return withoutFrames(kept).trimEnd();
}

const longestFrame = 256;

function withoutFrames(text: string): string {
  let kept = text;
  // Frames stand within frames.
  for (let before: string | undefined; before !== kept;) {
    before = kept;
    for (const frame of frames) {
      const trimmed = kept.trim();
      if (trimmed.endsWith(frame)) kept = trimmed.slice(0, -frame.length).trimEnd();
      else if (trimmed.startsWith(frame)) kept = trimmed.slice(frame.length).trimEnd();
    }
  }
  return kept;
}

/** The same for a title, which agents make from the beginning of a prompt, on one line, and cut anywhere. */
export function restoreTitle(title: string): string {
  const typed = restoreTyped(withoutAddress(withoutCutMark(title)));
  return typed.replace(cutSentence, "/$1$2");
}

/** On one line, the address of an insertion ends what the person typed. */
function withoutAddress(title: string): string {
  const start = title.search(/ (?:\[@?[^\] ]{0,200}\]?\(?|@|\[)?acp-skills?:?/);
  return start === -1 || !title.includes(sentenceStart) ? title : title.slice(0, start);
}

/** Without the beginning of a mark at which a title was cut; of less than `<acp` nothing is known. */
function withoutCutMark(title: string): string {
  const [end = ""] = /(?:…|\.{3})$/.exec(title) ?? [];
  const text = title.slice(0, title.length - end.length);
  for (let length = opening.length - 1; length >= 4; length--)
    if (text.endsWith(opening.slice(0, length))) return text.slice(0, -length).trimEnd();
  return title;
}

/** One prompt that an agent tells again, chunk by chunk, however it cut it. */
export interface Retelling {
  /** What of a chunk is to be shown; empty where all of it is ours. */
  read(chunk: string): string;
  /** What was held back, because it might have been the beginning of something of ours, and is not. */
  end(): string;
}

/** Opens the retelling of one prompt; `heard` is told the label of each lesson in it. */
export function openRetelling(heard: (label: string) => void): Retelling {
  let held = "";
  let isInside = false;
  let isAtStart = true;

  /** Takes in what there is; returns what is certain to be the person's. */
  function take(): string {
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
        const kept = suffixThatMayBe(held, opening);
        shown += held.slice(0, held.length - kept.length);
        held = kept;
        return shown;
      }
      const mark = held.slice(start, start + 2 * longestMark).indexOf(">");
      if (mark === -1 && held.length - start >= 2 * longestMark) {
        // No mark of ours is as long: the person typed it.
        shown += held.slice(0, start + opening.length);
        held = held.slice(start + opening.length);
        continue;
      }
      shown += held.slice(0, start).trimEnd();
      held = held.slice(start);
      if (mark === -1) return shown;
      const [, label] = /^<acp-skills lesson="([^"]*)">/.exec(held) ?? [];
      if (label !== undefined) heard(label);
      isInside = true;
    }
  }

  return {
    read(chunk) {
      held += chunk;
      if (isAtStart && mayBeSentence(held)) return "";
      const taken = take();
      if (taken === "") return "";
      isAtStart = false;
      return isUntouched(taken, chunk) ? taken : restoreTyped(taken);
    },
    end() {
      const rest = isInside || held.startsWith(opening) ? "" : restoreTyped(held);
      held = "";
      return rest;
    },
  };
}

function isUntouched(taken: string, chunk: string): boolean {
  return taken === chunk && !taken.includes("acp-skills:") && !sentence.test(taken);
}

/** The end of a text that may be the beginning of a mark. */
function suffixThatMayBe(text: string, mark: string): string {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return mark.slice(0, length);
  return "";
}

const sentenceStart = 'Use the skill "';

/** Whether a text is the beginning of our sentence, up to what follows the name. */
function mayBeSentence(text: string): boolean {
  if (text.length < sentenceStart.length) return text !== "" && sentenceStart.startsWith(text);
  return /^Use the skill "[a-z0-9.-]{0,64}"?(?:\.|: ?)?$/.test(text);
}
