import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskSecrets } from "../../../src/runtime/secrets/mask-secrets.ts";

const key = 's3cr3t/+key?="quoted" ü\'';

/** Masks the bytes as a stream, in chunks that end at the given offsets. */
function stream(mask: ReturnType<typeof maskSecrets>, bytes: Uint8Array, ends: readonly number[]): Buffer {
  const masked = mask.openStream();
  const cuts = [0, ...ends.map((end) => Math.min(end, bytes.length)).sort((a, b) => a - b), bytes.length];
  const pieces = cuts.slice(1).map((end, index) => masked.push(bytes.slice(cuts[index], end)));
  return Buffer.concat([...pieces, masked.end()]);
}

/** Reference implementation: hides every byte of every occurrence and replaces each contiguous range with one mask. */
function maskSlowly(values: readonly string[], text: string): string {
  const bytes = Buffer.from(text);
  const hidden = new Array<boolean>(bytes.length).fill(false);
  for (const value of values) {
    for (let at = bytes.indexOf(value); at >= 0; at = bytes.indexOf(value, at + 1)) {
      hidden.fill(true, at, at + Buffer.byteLength(value));
    }
  }
  const kept = [...bytes].flatMap((byte, at) =>
    !hidden[at] ? [byte] : hidden[at - 1] === true ? [] : [...Buffer.from("***")],
  );
  return Buffer.from(kept).toString();
}

describe("text", () => {
  test("is unchanged without secrets or without a value in it", () => {
    expect(maskSecrets({}).text("anything \ud800")).toBe("anything \ud800");
    expect(maskSecrets({ KEY: key }).text("anything \ud800")).toBe("anything \ud800");
  });

  test("masks every value, including adjacent, overlapping and nested ones", () => {
    const mask = maskSecrets({ A: "abcdef", B: "defghi", C: "cdef" });
    expect(mask.text("abcdef, defghi")).toBe("***, ***");
    expect(mask.text("xabcdefghix")).toBe("x***x");
    expect(mask.text("abcdefabcdef cdefx abcde")).toBe("*** ***x abcde");
    expect(maskSecrets({ A: "aaaa" }).text("aaaaaa aaa")).toBe("*** aaa");
  });

  test.each([
    ["JSON", JSON.stringify({ key }), '{"key":"***"}'],
    ["ASCII-only JSON", '{"key":"s3cr3t/+key?=\\"quoted\\" \\u00fc\'"}', '{"key":"***"}'],
    ["JSON with escaped slashes", '"s3cr3t\\/+key?=\\"quoted\\" ü\'"', '"***"'],
    ["Python's repr", "'s3cr3t/+key?=\"quoted\" ü\\''", "'***'"],
    ["a URL", `https://h/?key=${encodeURIComponent(key)}&x`, "https://h/?key=***&x"],
    ["form encoding", `key=${new URLSearchParams({ key }).toString().slice(4)}&x`, "key=***&x"],
    ["a URL with lower-case escapes", encodeURIComponent(key).toLowerCase(), "***"],
    ["urllib.parse.quote", "s3cr3t/%2Bkey%3F%3D%22quoted%22%20%C3%BC%27", "***"],
    ["base64", `Basic ${Buffer.from(key).toString("base64")}`, "Basic ***"],
    ["hexadecimal", `0x${Buffer.from(key).toString("hex")}00`, "0x***00"],
    ["upper-case hexadecimal", Buffer.from(key).toString("hex").toUpperCase(), "***"],
    ["CSV", 'a,"s3cr3t/+key?=""quoted"" ü\'",b', 'a,"***",b'],
    ["SQL", "'s3cr3t/+key?=\"quoted\" ü'''", "'***'"],
    ["shell quotes", `'s3cr3t/+key?="quoted" ü'"'"''`, "'***'"],
    ["HTML as Python escapes it", "<b>s3cr3t/+key?=&quot;quoted&quot; ü&#x27;</b>", "<b>***</b>"],
    ["HTML with decimal references", "<b>s3cr3t/+key?=&#34;quoted&#34; ü&#39;</b>", "<b>***</b>"],
    ["HTML with unescaped quotes", 's3cr3t/+key?="quoted" ü\'', "***"],
    ["Python's repr of bytes", "b's3cr3t/+key?=\"quoted\" \\xc3\\xbc\\''", "b'***'"],
    ["Python's ascii", "'s3cr3t/+key?=\"quoted\" \\xfc\\''", "'***'"],
    ["URL-safe base64", Buffer.from(key).toString("base64url"), "***"],
  ])("masks a value in %s", (_what, text, masked) => {
    expect(maskSecrets({ KEY: key }).text(text)).toBe(masked);
  });

  test.each([
    ["a & b < c > d", "a &amp; b &lt; c &gt; d"],
    ["Some.Secret-Value", "https://some.secret-value.example.org/"],
    ["line\nbreak\x1b😀", "b'line\\nbreak\\x1b\\xf0\\x9f\\x98\\x80'"],
    ["line\nbreak\x1b😀", "'line\\nbreak\\x1b😀'"],
    ["line\nbreak\x1b😀", "'line\\nbreak\\x1b\\U0001f600'"],
    ["a\\b'c", "'a\\\\b\\'c'"],
  ])("masks %j in %s", (value, text) => {
    expect(maskSecrets({ KEY: value }).text(text)).toMatch(/^[^*]*\*\*\*(\.example\.org\/|')?$/);
  });

  test("does not match short values case-insensitively as host names, because they may be words", () => {
    expect(maskSecrets({ KEY: "Token" }).text("the token")).toBe("the token");
  });

  test("masks the beginning of a value that was truncated, and no other prefix", () => {
    const mask = maskSecrets({ KEY: "hunter2-hunter2" });
    expect(mask.text("no: hunter2-hunt…\n\nmore")).toBe("no: ***…\n\nmore");
    expect(mask.text("hunt…")).toBe("***…");
    expect(mask.text("hun… hunter …")).toBe("hun… hunter …");
    expect(mask.text("hunter2-hunter2hunter2-…x")).toBe("***…x");
    expect(mask.text("hunter€ hunter2-hunter2…")).toBe("hunter€ ***…");
    expect(maskSecrets({ KEY: "ab…cd…efgh" }).text("ab…cd…efgh ab…cd…")).toBe("*** ***…");
  });

  test("masks long text in slices with the same result", async () => {
    const mask = maskSecrets({ KEY: "hunter2-😀-hunter2" });
    const text = `${"é😀".repeat(20_000)}hunter2-😀-hunter2`.repeat(4);
    expect(await mask.longText(text)).toBe(mask.text(text));
    expect(await mask.longText(text)).toContain("***");
  });

  test("masks a value inside base64-encoded text at any offset", () => {
    const value = "hunter2-hunter2";
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (before, after) => {
        const masked = maskSecrets({ KEY: value }).text(Buffer.from(before + value + after).toString("base64"));
        expect(masked).toContain("***");
        expect(Buffer.from(masked.replace("***", ""), "base64").toString("latin1")).not.toContain("unter2-hunte");
      }),
    );
  });

  test("masks single lines of a multi-line value", () => {
    const pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAbCdEf\n-----END KEY-----\n";
    const mask = maskSecrets({ PEM: pem });
    expect(mask.text("line 2 is MIIEvQIBADANBgkqhkiG.")).toBe("line 2 is ***.");
    expect(mask.text(JSON.stringify({ pem }))).toBe('{"pem":"***"}');
    expect(mask.text(`[${pem}]`)).toBe("[***]");
  });
});

describe("streams", () => {
  const alphabet = fc.constantFrom("a", "b", "c", "ü");
  const value = fc.string({ unit: alphabet, minLength: 4, maxLength: 7 });
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });
  const ends = fc.array(fc.nat(60), { maxLength: 10 });

  test("mask the same as the whole text, at any chunk boundaries", () => {
    const text = fc.array(fc.oneof(value, fc.string({ unit: alphabet, maxLength: 5 })), { maxLength: 8 });
    fc.assert(
      fc.property(values, text, ends, fc.boolean(), (secrets, pieces, cuts, withSecrets) => {
        const plain = [...pieces, ...(withSecrets ? secrets : [])].join("");
        const mask = maskSecrets(Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret])));
        const whole = mask.text(plain);
        expect(whole).toBe(maskSlowly(secrets, plain));
        expect(stream(mask, Buffer.from(plain), cuts).toString()).toBe(whole);
      }),
      { numRuns: 2000 },
    );
  });

  test("mask every encoding of a value, at any chunk boundaries", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: "grapheme" }), ends, (secret, cuts) => {
        fc.pre(secret.trim().length >= 4 && !secret.includes("*"));
        const mask = maskSecrets({ SECRET: secret });
        for (const form of [
          secret,
          JSON.stringify(secret).slice(1, -1),
          encodeURIComponent(secret),
          btoaText(secret),
        ]) {
          const masked = stream(mask, Buffer.from(`<${form}>`), cuts).toString();
          expect(masked).toBe("<***>");
          const beginning = Array.from(form).slice(0, -1).join("");
          if (Buffer.byteLength(beginning) < 4 || secret.includes("…")) continue;
          expect(stream(mask, Buffer.from(`<${beginning}…>`), cuts).toString()).toMatch(/\*\*\*…>$/);
        }
      }),
    );
  });

  test("mask a value completely if a chunk ends after a shorter value inside it", () => {
    const mask = maskSecrets({ LONG: "xabcdyy", SHORT: "abcd" });
    expect(stream(mask, Buffer.from("xabcdyy"), [5]).toString()).toBe("***");
    expect(stream(mask, Buffer.from("xabcdzz"), [5]).toString()).toBe("x***zz");
  });

  test("keep bytes that are not UTF-8 unchanged", () => {
    const mask = maskSecrets({ KEY: "value" });
    const bytes = Buffer.concat([Buffer.from([255, 0, 195]), Buffer.from("value"), Buffer.from([128])]);
    expect(stream(mask, bytes, [4, 6])).toEqual(
      Buffer.concat([Buffer.from([255, 0, 195]), Buffer.from("***"), Buffer.from([128])]),
    );
  });

  test("hold back only a possible beginning of a value", () => {
    const masked = maskSecrets({ KEY: "password" }).openStream();
    const pushed = (text: string): string => Buffer.from(masked.push(Buffer.from(text))).toString();
    expect(pushed("line\n")).toBe("line\n");
    expect(pushed("pass")).toBe("");
    expect(pushed("age pass")).toBe("passage ");
    expect(pushed("word")).toBe("***");
    expect(pushed("!")).toBe("!");
    expect(pushed("passwor")).toBe("");
    expect(Buffer.from(masked.end()).toString()).toBe("passwor");
  });

  test("merge adjacent repetitions of a value into one mask", () => {
    const masked = maskSecrets({ KEY: "aaaa" }).openStream();
    const written = Array.from({ length: 100 }, () => masked.push(Buffer.from("aaa")).length);
    expect(written.slice(2).every((length) => length === 0)).toBe(true);
    expect(written[0] === 0 && written[1] === 3).toBe(true);
  });

  test("do not share held-back bytes", () => {
    const mask = maskSecrets({ KEY: "password" });
    const [first, second] = [mask.openStream(), mask.openStream()];
    first.push(Buffer.from("pass"));
    expect(Buffer.from(second.push(Buffer.from("word"))).toString()).toBe("word");
  });
});

describe("JSON", () => {
  test("is masked in strings, keys and numbers", async () => {
    const mask = maskSecrets({ A: "hunter2", B: "123456" });
    const value = { list: ["is hunter2", 123456, 12345, null, true], hunter2: { deep: "x" } };
    expect(await mask.json(value)).toEqual({ list: ["is ***", "***", 12345, null, true], "***": { deep: "x" } });
  });

  test("of any size is masked in slices", async () => {
    const mask = maskSecrets({ A: "hunter2" });
    type Nested = readonly (string | Nested)[];
    let deep: Nested = ["hunter2"];
    for (let level = 0; level < 200; level++) deep = [deep];
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const masked = await mask.json([
      deep,
      new Array<number>(1_000_000).fill(1),
      new Array<string>(100_000).fill("text"),
    ]);
    isOver = true;
    expect(turns).toBeGreaterThan(10);
    expect((masked as Nested[])[1]).toHaveLength(1_000_000);
    let inner: string | Nested | undefined = (masked as Nested[])[0];
    while (Array.isArray(inner)) inner = (inner as Nested)[0];
    expect(inner).toBe("***");
  });

  test("keeps a key named __proto__", async () => {
    const value = JSON.parse('{"__proto__": {"x": "hunter2"}}') as Record<string, string>;
    expect(JSON.stringify(await maskSecrets({ A: "hunter2" }).json(value))).toBe('{"__proto__":{"x":"***"}}');
  });
});

test("rejects values that are too short to mask", () => {
  expect(() => maskSecrets({ SHORT: "abc", LONG: "abcd", BLANK: "     " })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTIONS", facts: { names: ["SHORT", "BLANK"] } }) as Error,
  );
  expect(() => maskSecrets({ SHORT: "abc" })).toThrow(/^(?!.*abc)/);
});

function btoaText(text: string): string {
  return Buffer.from(text).toString("base64");
}
