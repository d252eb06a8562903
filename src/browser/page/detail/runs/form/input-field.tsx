import type { JSX, ComponentChildren } from "preact";
import { toVisible } from "../../../parts/foreign-text.tsx";
import type { SkillInput } from "../../../../wire/skills.ts";
import type { SkillServer } from "../../../source/skill-source.ts";
import { type SentFile, type RunFormState, splitWords } from "../state/run-form.ts";
import { BlobField } from "./file-fields.tsx";
import { useId } from "preact/hooks";
import { Icon } from "../../../parts/icon.tsx";

interface InputFieldProps {
  readonly name: string;
  readonly input: SkillInput;
  readonly draft: string;
  readonly problem: string | undefined;
  readonly server: SkillServer;
  readonly file: SentFile | undefined;
  readonly onFile: (file: SentFile) => void;
  readonly onChange: (draft: string) => void;
}

/** One input of a skill. */
export function InputField(props: InputFieldProps): JSX.Element {
  const { name, input, problem } = props;
  const { type, description, required = false, default: preset } = input;
  const help = [
    ...(description === undefined ? [] : [toVisible(description, 1_000)]),
    ...(preset === undefined ? [] : [`Left empty: ${toVisible(JSON.stringify(preset), 200)}.`]),
  ].join(" ");
  const takes = input.enum === undefined ? typeChips[type] : "choice";
  return (
    <FormField
      name={name}
      takes={takes}
      isRequired={required && preset === undefined}
      problem={problem}
      {...(help !== "" && { help })}
    >
      {(ids) => control(ids, props)}
    </FormField>
  );
}

const typeChips: Readonly<Record<SkillInput["type"], string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "JSON object",
  array: "JSON array",
  blob: "file",
};

function control(ids: FieldIds, { input, draft, server, file, onFile, onChange }: InputFieldProps): JSX.Element {
  const { type, enum: choices } = input;
  const shared = { ...ids, value: draft };
  if (choices !== undefined || type === "boolean") {
    const options: readonly (readonly [value: string, text: string])[] =
      choices === undefined
        ? [
            ["true", "true"],
            ["false", "false"],
          ]
        : choices.map((choice, index) => [String(index), typeof choice === "string" ? choice : JSON.stringify(choice)]);
    return (
      <select {...shared} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">not given</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {toVisible(text, 200)}
          </option>
        ))}
      </select>
    );
  }
  if (type === "blob") return <BlobField {...{ ids, draft, server, file, onFile, onChange }} />;
  if (type === "object" || type === "array")
    return (
      <textarea
        {...shared}
        class="mono"
        rows={Math.min(12, Math.max(3, draft.split("\n").length))}
        spellcheck={false}
        placeholder={type === "array" ? "[ ]" : "{ }"}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  const isNumber = type === "integer" || type === "number";
  if (isNumber || !draft.includes("\n"))
    return (
      <input
        {...shared}
        type="text"
        inputMode={isNumber ? "decimal" : "text"}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <textarea {...shared} rows={4} onInput={(event) => onChange(event.currentTarget.value)} />;
}

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

/** What a control needs so that its label, help and problem belong to it. */
export interface FieldIds {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
  readonly "aria-required": boolean;
}

/** A control with its name, what it takes, help, and what is wrong with it. */
export function FormField({
  name,
  takes,
  help,
  isRequired = false,
  problem,
  children,
}: {
  readonly name: string;
  readonly takes?: string;
  readonly help?: ComponentChildren;
  readonly isRequired?: boolean;
  readonly problem?: string | undefined;
  readonly children: (ids: FieldIds) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  const described = [help !== undefined && `${id}-help`, problem !== undefined && `${id}-problem`].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>
        <bdi>{toVisible(name, 128)}</bdi>
        {takes !== undefined && <span class="chip">{takes}</span>}
        {isRequired && <span class="chip notice">required</span>}
      </label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": problem !== undefined,
        "aria-required": isRequired,
      })}
      {problem !== undefined && (
        <p class="field-problem danger" id={`${id}-problem`}>
          <Icon name="alert" />
          <span>{toVisible(problem, 500)}</span>
        </p>
      )}
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
