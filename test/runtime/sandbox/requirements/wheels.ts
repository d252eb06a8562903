import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";

/** Writes a wheel by hand: a zip whose entries are stored as they are. */
export function writeWheel(
  directory: string,
  name: string,
  options: {
    readonly files?: Readonly<Record<string, string>>;
    readonly requires?: readonly string[];
    readonly tag?: string;
  } = {},
): void {
  const {
    files = { [`${name}.py`]: `name = ${JSON.stringify(name)}\n` },
    requires = [],
    tag = "py3-none-any",
  } = options;
  const about = `${name}-1.0.dist-info`;
  const entries: Record<string, string> = {
    ...files,
    [`${about}/METADATA`]: [
      "Metadata-Version: 2.1",
      `Name: ${name}`,
      "Version: 1.0",
      ...requires.map((other) => `Requires-Dist: ${other}`),
      "",
    ].join("\n"),
    [`${about}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  };
  entries[`${about}/RECORD`] = [...Object.keys(entries), `${about}/RECORD`].map((file) => `${file},,\n`).join("");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, `${name}-1.0-${tag}.whl`), zip(entries));
}

/** Writes a source archive that needs nothing to be built but its own code, which is run. */
export function writeSource(file: string, name: string, code: string): void {
  const backend = 'requires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';
  writeFileSync(
    file,
    zip({
      [`${name}-1.0/pyproject.toml`]: `[build-system]\n${backend}`,
      [`${name}-1.0/backend.py`]: `${code}\n`,
      [`${name}-1.0/PKG-INFO`]: `Metadata-Version: 1.0\nName: ${name}\nVersion: 1.0\n`,
    }),
  );
}

function zip(entries: Readonly<Record<string, string>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const content = Buffer.from(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(0x5a210000, 6);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const record = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), content]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    more.writeUInt32LE(offset, 10);
    central.push(Buffer.from("PK\x01\x02\x14\x03"), common, more, Buffer.from(name));
    local.push(record);
    offset += record.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(Object.keys(entries).length, 8);
  end.writeUInt16LE(Object.keys(entries).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}
