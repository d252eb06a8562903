import type { JSX } from "preact";
import { toVisible } from "../../../parts/visible-text.ts";
import type { SkillInput } from "../../../../wire/skills.ts";
import type { SkillServer } from "../../../source/skill-server.ts";
import type { SentFile } from "../state/run-form.ts";
import { BlobField } from "./blob-field.tsx";
import { FormField, type FieldIds } from "./field.tsx";

export interface InputFieldProps {
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
