import type { JSX } from "preact";
import { toVisible } from "../../../parts/visible-text.ts";
import type { RunFormState } from "../state/run-form.ts";
import { FormField } from "./field.tsx";
import { splitWords } from "../state/split-words.ts";

/** The arguments and the input of a script. */
export function ScriptFields({
  form,
  problem,
  onTouch,
}: {
  readonly form: RunFormState;
  readonly problem: string | undefined;
  readonly onTouch: () => void;
}): JSX.Element {
  const split = splitWords(form.words.value);
  // What is not closed yet is not wrong while a person types.
  const words = split.words ?? [];
  return (
    <>
      <FormField
        name="Arguments"
        problem={problem}
        help="Separated and quoted as in a shell. Nothing is expanded: $NAME, * and | are passed on as they are."
      >
        {(ids) => (
          <input
            {...ids}
            class="mono"
            type="text"
            value={form.words.value}
            placeholder="--pages 1-3 'a file.txt'"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              form.words.value = currentTarget.value;
              onTouch();
            }}
          />
        )}
      </FormField>
      {words.length > 0 && (
        <ol class="words" aria-label="Arguments as they are passed">
          {words.map((word, index) => (
            <li key={index} class="mono">
              {word === "" ? <span class="muted">empty</span> : <bdi>{toVisible(word, 300)}</bdi>}
            </li>
          ))}
        </ol>
      )}
      <FormField name="Standard input">
        {(ids) => (
          <textarea
            {...ids}
            class="mono"
            rows={3}
            spellcheck={false}
            value={form.stdin.value}
            onInput={({ currentTarget }) => {
              form.stdin.value = currentTarget.value;
              onTouch();
            }}
          />
        )}
      </FormField>
    </>
  );
}
