import { describe, expect, it } from "vitest";
import { seatbeltConfiguration } from "../../../../src/runtime/sandbox/seatbelt/seatbelt-process.ts";

const places = { readable: ["/opt/python", "/private/run/skills"], writable: ["/private/run/workspace"] };
const always = ["/dev/stdout", "/tmp/claude", "/Users/somebody/.npm/_logs"];

describe("seatbeltConfiguration", () => {
  it("denies all reads except those listed", () => {
    const { filesystem } = seatbeltConfiguration(places, always);
    expect(filesystem.denyRead).toEqual(["/"]);
    expect(filesystem.allowRead).toEqual(expect.arrayContaining([...places.readable, ...places.writable]));
    expect(
      filesystem.allowRead.filter((path) => /^\/(Users|home|Volumes|tmp|private\/(tmp|var\/folders)|)$/.test(path)),
    ).toEqual([]);
  });

  it("allows writes only to the run's directories and denies the runtime's default write paths", () => {
    const { filesystem } = seatbeltConfiguration(places, always);
    expect(filesystem.allowWrite).toEqual(places.writable);
    expect(filesystem.denyWrite).toEqual(["/tmp/claude", "/Users/somebody/.npm/_logs", ...places.readable]);
  });

  it("allows no network, sockets, terminals or Apple events", () => {
    const { network, ...rest } = seatbeltConfiguration(places, always);
    expect(network).toEqual({
      allowedDomains: [],
      deniedDomains: ["*"],
      strictAllowlist: true,
      allowUnixSockets: [],
      allowAllUnixSockets: false,
      allowLocalBinding: false,
    });
    expect(rest).toMatchObject({ allowPty: false, allowAppleEvents: false, enableWeakerNetworkIsolation: false });
  });

  it.each(["relative", "/a*", "/a?", "/a[b]", "/a{b,c}", ""])(
    "rejects %j, which is relative or a glob pattern",
    (path) => {
      expect(() => seatbeltConfiguration({ readable: [path], writable: [] }, [])).toThrow(TypeError);
      expect(() => seatbeltConfiguration({ readable: [], writable: [path] }, [])).toThrow(TypeError);
    },
  );
});
