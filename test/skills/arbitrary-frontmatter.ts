import fc from "fast-check";

const pieces = [
  ...[
    "name",
    "description",
    "metadata",
    "allowed-tools",
    "license",
    "tags",
    "a",
    "b-c",
    "d_e",
    "__proto__",
    "constructor",
    "名",
  ],
  ...[
    ": ",
    ":",
    " :",
    ":\n",
    ": |\n",
    ": >-\n",
    ": >\n",
    ": |+\n",
    ": |2\n",
    "- ",
    "  - ",
    "  ",
    "    ",
    " ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
  ],
  ...[
    "#",
    " # ",
    "'",
    '"',
    "''",
    '\\"',
    "\\",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    "&x ",
    "*x",
    "!foo ",
    "!!str ",
    "%",
    "@",
    "`",
    "|",
    ">",
    "?",
    "-",
  ],
  ...[
    "...",
    "---",
    "=",
    "<<",
    "~",
    "null",
    "1.10",
    "true",
    "0x1",
    "Bash(git *)",
    "Read",
    "é",
    "😀",
    "\u00a0",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\u0000",
  ],
  ...["foo", "Use when: yes", "it's", "x: y", "https://a.b/c", "C#", "[a, b]", "['a', \"b\"]", "{a: b}"],
];

const value = fc.oneof(
  fc.constantFrom(...pieces.filter((piece) => !piece.includes("\n"))),
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join("")),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
);

const key = fc.constantFrom(
  "name",
  "description",
  "metadata",
  "allowed-tools",
  "license",
  "compatibility",
  "tags",
  "version",
  "a-b",
);

const entry = fc.oneof(
  fc.tuple(key, value).map(([name, text]) => `${name}: ${text}\n`),
  fc.tuple(key, value, value).map(([name, first, second]) => `${name}: ${first}\n  ${second}\n`),
  fc.tuple(key, value).map(([name, text]) => `${name}: '${text}'\n`),
  fc.tuple(key, value).map(([name, text]) => `${name}: "${text}"\n`),
  fc.tuple(key, fc.array(value, { maxLength: 3 })).map(([name, items]) => `${name}: [${items.join(", ")}]\n`),
  fc
    .tuple(key, fc.array(value, { maxLength: 3 }), fc.constantFrom("", "  ", " "))
    .map(([name, items, indent]) => `${name}:\n${items.map((item) => `${indent}- ${item}\n`).join("")}`),
  fc
    .tuple(key, fc.array(fc.tuple(key, value), { maxLength: 3 }))
    .map(([name, items]) => `${name}:\n${items.map(([inner, text]) => `  ${inner}: ${text}\n`).join("")}`),
  fc
    .tuple(
      key,
      fc.constantFrom("|", ">", "|-", ">-", "|+", ">1"),
      fc.array(fc.tuple(fc.constantFrom("  ", "  ", "   ", "", " "), value)),
    )
    .map(
      ([name, header, lines]) => `${name}: ${header}\n${lines.map(([indent, text]) => `${indent}${text}\n`).join("")}`,
    ),
  fc
    .array(
      fc.tuple(
        fc.constantFrom("  ", "    ", "      ", " ", ""),
        fc.oneof(
          fc.tuple(key, fc.oneof(fc.constant(""), value)).map(([inner, text]) => `${inner}: ${text}`),
          fc.tuple(key).map(([inner]) => `${inner}:`),
          value.map((text) => `- ${text}`),
          fc.constantFrom("plain text", "'quoted'", '"say \\"x\\""', "- item", "", "# comment", "[a, b]"),
        ),
      ),
      { maxLength: 6 },
    )
    .map((lines) => `metadata:\n${lines.map(([indent, text]) => `${indent}${text}\n`).join("")}`),
  fc.constantFrom("\n", "# comment\n", "  # comment\n", "   \n"),
);

/** Arbitrary frontmatter: mostly almost valid, sometimes entirely invalid. */
export const arbitraryFrontmatter = fc.oneof(
  { weight: 4, arbitrary: fc.array(entry, { maxLength: 5 }).map((entries) => entries.join("")) },
  {
    weight: 2,
    arbitrary: fc.array(entry, { maxLength: 4 }).map((entries) => entries.join("").replaceAll("\n", "\r\n")),
  },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

/** A complete SKILL.md with arbitrary frontmatter. */
export const arbitrarySkillText = fc
  .tuple(
    fc.constantFrom(
      "---\n",
      "---\n",
      "---\n",
      "---\r\n",
      "--- \n",
      "\ufeff---\n",
      "---yaml\n",
      "---js\n",
      "",
      "--\n",
      "\n---\n",
    ),
    fc.constantFrom("", "description: Fine.\n", "name: pdf\ndescription: Fine.\n"),
    arbitraryFrontmatter,
    fc.constantFrom("---\n", "---\n", "---\n", "---", "--- \t\r\n", "", "----\n", "\n---\n"),
    fc.oneof(fc.string(), fc.constantFrom("", "\n", "# Title\n\n---\nmore\n", "body\r\n")),
  )
  .map((parts) => parts.join(""));
