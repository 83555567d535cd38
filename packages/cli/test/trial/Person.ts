/** What a command line came to. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Typed extends Ended {
  readonly words: readonly string[];
}

export interface Place {
  readonly cwd: string;
  /** Beside what this process has. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a command line of `devs`. */
export type Devs = (words: readonly string[], place: Place) => Promise<Ended>;

interface Shown {
  readonly status: string;
  readonly cost: { readonly requests: number; readonly tokensIn: number; readonly tokensOut: number };
  readonly gates: readonly { readonly id: string; readonly kind: string }[];
}

/** Somebody at a terminal of their own, who types `devs` commands in their repository. */
export class Person {
  readonly typed: Typed[] = [];
  readonly #devs: Devs;
  readonly #place: Place;

  constructor(devs: Devs, place: Place) {
    this.#devs = devs;
    this.#place = place;
  }

  async devs(...words: readonly string[]): Promise<Typed> {
    const typed = { words, ...(await this.#devs(words, this.#place)) };
    this.typed.push(typed);
    return typed;
  }

  /** How a run stands; looking is no decision. */
  async look(run: string): Promise<Shown> {
    const { stdout } = await this.#devs(['status', run, '--json'], this.#place);
    return JSON.parse(stdout) as Shown;
  }

  /** The same as it is printed. */
  async read(run: string): Promise<string> {
    return (await this.#devs(['status', run], this.#place)).stdout;
  }
}
