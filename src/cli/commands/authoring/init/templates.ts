/** Text by file name. */
type Files = Readonly<Record<string, string>>;

function title(name: string): string {
  const words = name.replace(/[-.]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function instructionFiles(name: string): Files {
  return {
    "SKILL.md": `---
name: ${name}
description: Explains how to do ${name}. Use when the user asks for ${name}.
---

# ${title(name)}

1. Say what to look at first.
2. Say what to do, step by step.
3. Say what the result looks like, with an example.
`,
  };
}

export function scriptFiles(name: string): Files {
  return {
    "SKILL.md": `---
name: ${name}
description: Counts the words of a text with a script. Use when the user asks for ${name}.
---

# ${title(name)}

Run \`scripts/main.py\` with the text as its arguments. It prints the number of words as JSON.
`,
    "scripts/main.py": `import json
import sys

words = " ".join(sys.argv[1:]).split()
print(json.dumps({"words": len(words)}))
`,
  };
}

export function actionFiles(name: string): Files {
  return {
    "SKILL.md": `---
name: ${title(name)}
short_description: Counts the words of a text.
---

# ${title(name)}

\`execute_skill\` with \`args: {"text": "…"}\` returns \`{"words": …}\`.
`,
    "skill.toml": `name = "${name}"
version = "0.1.0"
description = "Counts the words of a text. Use when the user asks for ${name}."
kind = "action"

[runtime]
language = "python"
entrypoint = "code/main.py"

[inputs.text]
type = "string"
description = "The text"
required = true

[outputs.words]
type = "integer"
description = "The number of its words"
`,
    "code/main.py": `def main(args):
    return {"words": len(args["text"].split())}
`,
  };
}
