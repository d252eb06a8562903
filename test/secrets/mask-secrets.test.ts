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
    ["URL-safe base64", Buffer.from(key).toString("base64url"), "***"],
  ])("loses a value in %s", (_what, text, masked) => {
    expect(maskSecrets({ KEY: key }).text(text)).toBe(masked);
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
  test("loses values in texts, keys and numbers, and keeps the rest", () => {
    const mask = maskSecrets({ A: "hunter2", B: "123456" });
    const value = { list: ["is hunter2", 123456, 12345, null, true], hunter2: { deep: "x" } };
    expect(mask.json(value)).toEqual({ list: ["is ***", "***", 12345, null, true], "***": { deep: "x" } });
  });

  test("a key __proto__ stays a key", () => {
    const value = JSON.parse('{"__proto__": {"x": "hunter2"}}') as Record<string, string>;
    expect(JSON.stringify(maskSecrets({ A: "hunter2" }).json(value))).toBe('{"__proto__":{"x":"***"}}');
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
