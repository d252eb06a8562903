import type { JSX } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { counted } from "../../../../base/text/code-points.ts";
import type { SkillDetail, SkillRow } from "../../../wire/skills.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { SourceText } from "../markdown/source-text.tsx";
import { fieldList } from "../../components/fields.tsx";
import { foreignText, toVisible } from "../../components/foreign-text.tsx";
import { Button, Icon } from "../../components/icon.tsx";
import type { TabProps } from "../tabs.ts";

/** The tab of the description and the instructions, which are rendered or shown as written. */
export function OverviewTab({ detail, openTab }: TabProps): JSX.Element {
  const { row, instructions, hidden = [], files = [] } = detail;
  const [isText, setIsText] = useState(false);
  const paths = files.map(({ path }) => path).join("\n");
  const known = useMemo(() => new Set(paths.split("\n")), [paths]);
  const openFile = useCallback((path: string) => openTab("files", path), [row.id]);
  return (
    <>
      <p class="lead" dir="auto">
        {foreignText(row.description, 1_024)}
      </p>
      {instructions === undefined && knownFacts(row)}
      {hidden.length > 0 && hiddenText(hidden, instructions?.markdown ?? "")}
      {instructions !== undefined && (
        <>
          <div class="bar">
            <h3>Instructions</h3>
            <span class="muted">about {row.tokens.instructions.toLocaleString("en")} tokens</span>
            <Button text="Show as text" aria-pressed={isText} onClick={() => setIsText(!isText)} />
          </div>
          {isText ? (
            <SourceText text={instructions.markdown} label="Instructions as written" />
          ) : (
            <Markdown text={instructions.markdown} files={known} openFile={openFile} under={3} />
          )}
          {!instructions.isWhole && <p class="caution">SKILL.md is longer than 1 MiB. This is its first part.</p>}
        </>
      )}
    </>
  );
}

/** The facts about a skill that an agent announced, whose files cannot be read. */
function knownFacts({ license, compatibility, allowedTools = [], command, environment }: SkillRow): JSX.Element | null {
  return fieldList([
    ["License", license],
    ["Needs", compatibility],
    ["This machine lacks", environment?.missing?.join(", ")],
    ["Expects the tools", allowedTools.join(", ")],
    ["Invoked with", command === undefined ? undefined : `/${command}`],
  ]);
}

const names = {
  "zero-width": "characters without width",
  bidi: "control of text direction",
  control: "control characters",
  comment: "HTML comment",
  "tag-characters": "tag characters",
} as const;

const listed = 50;

/** The list of texts in the instructions that a model reads but rendering hides. */
function hiddenText(hidden: SkillDetail["hidden"], markdown: string): JSX.Element {
  return (
    <details class="caution">
      <summary>
        <Icon name="alert" />
        {counted(hidden.length, "place")} in the instructions that rendered text usually hides, and that models read.
      </summary>
      <ul>
        {hidden.slice(0, listed).map(({ kind, start, text }) => (
          <li key={`${kind} ${String(start)}`}>
            Line {markdown.slice(0, start).split("\n").length}: {names[kind]}{" "}
            <code dir="ltr">{toVisible(text, 300)}</code>
          </li>
        ))}
      </ul>
      {hidden.length > listed && <p>And {hidden.length - listed} more: “Show as text” shows them all.</p>}
    </details>
  );
}
