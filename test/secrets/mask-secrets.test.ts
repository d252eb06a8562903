import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskSecrets } from "../../src/secrets/mask-secrets.ts";

const key = 's3cr3t/+key?="quoted" ü\'';

/** Pushed in pieces that end at the given offsets. */
function stream(mask: ReturnType<typeof maskSecrets>, bytes: Uint8Array, ends: readonly number[]): Buffer {
  const masked = mask.openStream();
  const cuts = [0, ...ends.map((end) => Math.min(end, bytes.length)).sort((a, b) => a - b), bytes.length];
  const pieces = cuts.slice(1).map((end, index) => masked.push(bytes.slice(cuts[index], end)));
  return Buffer.concat([...pieces, masked.end()]);
}

/** The specification, slowly: every byte of every occurrence goes, and what hangs together becomes one mask. */
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
  test("without secrets, or without a value in it, is as it was", () => {
    expect(maskSecrets({}).text("anything \ud800")).toBe("anything \ud800");
    expect(maskSecrets({ KEY: key }).text("anything \ud800")).toBe("anything \ud800");
  });

  test("loses every value, also values that touch, overlap or contain one another", () => {
    const mask = maskSecrets({ A: "abcdef", B: "defghi", C: "cdef" });
    expect(mask.text("abcdef, defghi")).toBe("***, ***");
    expect(mask.text("xabcdefghix")).toBe("x***x");
    expect(mask.text("abcdefabcdef cdefx abcde")).toBe("*** ***x abcde");
    expect(maskSecrets({ A: "aaaa" }).text("aaaaaa aaa")).toBe("*** aaa");
  });

  test.each([
    ["JSON", JSON.stringify({ key }), '{"key":"***"}'],
    ["JSON in JSON's ASCII", '{"key":"s3cr3t/+key?=\\"quoted\\" \\u00fc\'"}', '{"key":"***"}'],
    ["JSON with escaped slashes", '"s3cr3t\\/+key?=\\"quoted\\" ü\'"', '"***"'],
    ["Python's repr", "'s3cr3t/+key?=\"quoted\" ü\\''", "'***'"],
    ["a URL", `https://h/?key=${encodeURIComponent(key)}&x`, "https://h/?key=***&x"],
    ["a form", `key=${new URLSearchParams({ key }).toString().slice(4)}&x`, "key=***&x"],
    ["a URL in lower case", encodeURIComponent(key).toLowerCase(), "***"],
    ["Python's quote", "s3cr3t/%2Bkey%3F%3D%22quoted%22%20%C3%BC%27", "***"],
    ["base64", `Basic ${Buffer.from(key).toString("base64")}`, "Basic ***"],
    ["hexadecimal", `0x${Buffer.from(key).toString("hex")}00`, "0x***00"],
    ["hexadecimal in capitals", Buffer.from(key).toString("hex").toUpperCase(), "***"],
    ["CSV", 'a,"s3cr3t/+key?=""quoted"" ü\'",b', 'a,"***",b'],
    ["SQL", "'s3cr3t/+key?=\"quoted\" ü'''", "'***'"],
    ["a shell's quotes", `'s3cr3t/+key?="quoted" ü'"'"''`, "'***'"],
    ["HTML, by Python", "<b>s3cr3t/+key?=&quot;quoted&quot; ü&#x27;</b>", "<b>***</b>"],
    ["HTML, by others", "<b>s3cr3t/+key?=&#34;quoted&#34; ü&#39;</b>", "<b>***</b>"],
    ["HTML, quotes as they are", 's3cr3t/+key?="quoted" ü\'', "***"],
    ["Python's repr of bytes", "b's3cr3t/+key?=\"quoted\" \\xc3\\xbc\\''", "b'***'"],
    ["Python's ascii", "'s3cr3t/+key?=\"quoted\" \\xfc\\''", "'***'"],
    ["URL-safe base64", Buffer.from(key).toString("base64url"), "***"],
  ])("loses a value in %s", (_what, text, masked) => {
    expect(maskSecrets({ KEY: key }).text(text)).toBe(masked);
  });

  test.each([
    ["a & b < c > d", "a &amp; b &lt; c &gt; d"],
    ["Some.Secret-Value", "https://some.secret-value.example.org/"],
    ["line\nbreak\x1b😀", "b'line\\nbreak\\x1b\\xf0\\x9f\\x98\\x80'"],
    ["line\nbreak\x1b😀", "'line\\nbreak\\x1b😀'"],
    ["line\nbreak\x1b😀", "'line\\nbreak\\x1b\\U0001f600'"],
    ["a\\b'c", "'a\\\\b\\'c'"],
  ])("loses %j in %s", (value, text) => {
    expect(maskSecrets({ KEY: value }).text(text)).toMatch(/^[^*]*\*\*\*(\.example\.org\/|')?$/);
  });

  test("a short value is no host name: it would be a word", () => {
    expect(maskSecrets({ KEY: "Token" }).text("the token")).toBe("the token");
  });

  test("loses the beginning of a value that was cut off, and no other", () => {
    const mask = maskSecrets({ KEY: "hunter2-hunter2" });
    expect(mask.text("no: hunter2-hunt…\n\nmore")).toBe("no: ***…\n\nmore");
    expect(mask.text("hunt…")).toBe("***…");
    expect(mask.text("hun… hunter …")).toBe("hun… hunter …");
    expect(mask.text("hunter2-hunter2hunter2-…x")).toBe("***…x");
    expect(mask.text("hunter€ hunter2-hunter2…")).toBe("hunter€ ***…");
    expect(maskSecrets({ KEY: "ab…cd…efgh" }).text("ab…cd…efgh ab…cd…")).toBe("*** ***…");
  });

  test("loses the same in slices", async () => {
    const mask = maskSecrets({ KEY: "hunter2-😀-hunter2" });
    const text = `${"é😀".repeat(20_000)}hunter2-😀-hunter2`.repeat(4);
    expect(await mask.longText(text)).toBe(mask.text(text));
    expect(await mask.longText(text)).toContain("***");
  });

  test("loses a value in the midst of something that is base64, whatever is around it", () => {
    const value = "hunter2-hunter2";
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (before, after) => {
        const masked = maskSecrets({ KEY: value }).text(Buffer.from(before + value + after).toString("base64"));
        expect(masked).toContain("***");
        expect(Buffer.from(masked.replace("***", ""), "base64").toString("latin1")).not.toContain("unter2-hunte");
      }),
    );
  });

  test("loses the lines of a value that has several", () => {
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

  test("lose what the whole text loses, wherever they are cut", () => {
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

  test("lose a value in each of its forms, wherever they are cut", () => {
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

  test("lose a value whole when they are cut after a shorter one in its midst", () => {
    const mask = maskSecrets({ LONG: "xabcdyy", SHORT: "abcd" });
    expect(stream(mask, Buffer.from("xabcdyy"), [5]).toString()).toBe("***");
    expect(stream(mask, Buffer.from("xabcdzz"), [5]).toString()).toBe("x***zz");
  });

  test("are bytes, not text: what is no UTF-8 stays as it is", () => {
    const mask = maskSecrets({ KEY: "value" });
    const bytes = Buffer.concat([Buffer.from([255, 0, 195]), Buffer.from("value"), Buffer.from([128])]);
    expect(stream(mask, bytes, [4, 6])).toEqual(
      Buffer.concat([Buffer.from([255, 0, 195]), Buffer.from("***"), Buffer.from([128])]),
    );
  });

  test("hold back only what may yet become a value", () => {
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

  test("do not grow while a value repeats", () => {
    const masked = maskSecrets({ KEY: "aaaa" }).openStream();
    const written = Array.from({ length: 100 }, () => masked.push(Buffer.from("aaa")).length);
    expect(written.slice(2).every((length) => length === 0)).toBe(true);
    expect(written[0] === 0 && written[1] === 3).toBe(true);
  });

  test("do not share what they hold back", () => {
    const mask = maskSecrets({ KEY: "password" });
    const [first, second] = [mask.openStream(), mask.openStream()];
    first.push(Buffer.from("pass"));
    expect(Buffer.from(second.push(Buffer.from("word"))).toString()).toBe("word");
  });
});

describe("JSON", () => {
  test("loses values in texts, keys and numbers, and keeps the rest", async () => {
    const mask = maskSecrets({ A: "hunter2", B: "123456" });
    const value = { list: ["is hunter2", 123456, 12345, null, true], hunter2: { deep: "x" } };
    expect(await mask.json(value)).toEqual({ list: ["is ***", "***", 12345, null, true], "***": { deep: "x" } });
  });

  test("of any size and depth is masked in slices, without recursion", async () => {
    const mask = maskSecrets({ A: "hunter2" });
    type Nested = readonly (string | Nested)[];
    let deep: Nested = ["hunter2"];
    for (let level = 0; level < 100_000; level++) deep = [deep];
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

  test("a key __proto__ stays a key", async () => {
    const value = JSON.parse('{"__proto__": {"x": "hunter2"}}') as Record<string, string>;
    expect(JSON.stringify(await maskSecrets({ A: "hunter2" }).json(value))).toBe('{"__proto__":{"x":"***"}}');
  });
});

test("a value too short to be masked is no secret to hand out", () => {
  expect(() => maskSecrets({ SHORT: "abc", LONG: "abcd", BLANK: "     " })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTIONS", facts: { names: ["SHORT", "BLANK"] } }) as Error,
  );
  expect(() => maskSecrets({ SHORT: "abc" })).toThrow(/^(?!.*abc)/);
});

function btoaText(text: string): string {
  return Buffer.from(text).toString("base64");
}
