import { python } from "./runs.ts";

/** Programs in Python for every tier; a tier without Python maps each text to an equivalent. */
export const samples = {
  echoes: python`
    def main(args):
        return args
  `,
  raises: python`
    def main():
        raise ValueError("this cannot be")
  `,
  printsAndWaits: python`
    import time

    def main():
        print("started", flush=True)
        while True:
            time.sleep(60)
  `,
  leavesAndWaits: python`
    import time

    def main():
        with open("/output/early.txt", "w") as file:
            file.write("early")
        print("started", flush=True)
        while True:
            time.sleep(60)
  `,
  printsWithoutEnd: python`
    def main():
        while True:
            print("x" * 1000)
  `,
  keepsBlob: python`
    import runtime

    def main():
        return runtime.blobs.create("kept", kind="text/plain")
  `,
  leavesFiles: python`
    def main():
        with open("/output/one.txt", "w") as file:
            file.write("1")
        with open("/output/two.txt", "w") as file:
            file.write("22")
        return "left"
  `,
  callsSkill: python`
    import runtime

    def main(args):
        return runtime.skill("there")(args)
  `,
} as const;
