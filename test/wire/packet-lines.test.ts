import { expect, test } from "vitest";
import { packetLine, readPackets } from "../../src/wire/packet-lines.ts";

const read = (text: string): readonly string[] | undefined => readPackets(Buffer.from(text));

test("the texts of packets are read; flush, delimiter and end packets separate them", () => {
  expect(read(`${packetLine("one")}0000${packetLine("zwölf")}0001${packetLine("")}0002`)).toEqual(["one", "zwölf", ""]);
});

test.each(["zz00", "000", "0003", "0009one"])("%j are no packets", (text) => {
  expect(read(text)).toBeUndefined();
});
