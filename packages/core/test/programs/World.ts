import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { step } from '../../src/engine/node/step.ts';

/** The outside world of a program, as it is for one process. */
export interface World {
  /**
   * A call that must be made once. It is in the ledger before it returns `result`.
   *
   * @param what - Another one for every call that is meant.
   */
  effect<T = string>(name: string, what: string, result?: T): Promise<T>;
  /**
   * The same in a task of the functional API, which is recorded by itself.
   *
   * @param what - Another one for every call that is meant; the task returns what comes of it.
   */
  inTask(what: string): Promise<string>;
  /**
   * A call that must be made once, and is not recorded by itself: the step around it is. What it returns is in no result
   * but of a step that has it made.
   */
  call(what: string): Promise<string>;
  /** Calls side by side return in the order of their beginnings, as {@link effect} does: who asks first is the same one every time. */
  inTurn<T>(call: Promise<T>): Promise<T>;
  /** Whether a service is down: so many times in all, over every process. */
  isDown(service: string, times: number): boolean;
  /** Told of a node's visit, with what it was given. */
  visit(node: string, given?: unknown): void;
}

export interface Effect {
  readonly what: string;
  /** Of the step that made the call; `''` by LangGraph alone. Of a task, what it calls. */
  readonly key: string;
}

export interface WorldOptions {
  /** Path; beside it is what services were asked. */
  readonly ledger: string;
  /** Whether calls are recorded in steps. */
  readonly isDurable: boolean;
  /** Calls after which the process makes no more: the last one never returns. @defaultValue none */
  readonly diesAfter?: number;
  readonly onDeath?: () => void;
}

export const effectsIn = (ledger: string): readonly Effect[] =>
  linesOf(ledger).map((line) => JSON.parse(line) as Effect);

const linesOf = (path: string): readonly string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

const DONE = 'done: ';

const resultOf = (what: string): string => `${DONE}${what}`;

/** What was called, of the recorded result of a task, as JSON. */
export const whatGave = (result: string): readonly string[] =>
  [...result.matchAll(new RegExp(`${DONE}([^"]*)`, 'g'))].map(([, what = '']) => what);

const never = (): Promise<never> => new Promise(() => {});

export class LedgerWorld implements World {
  readonly visits: (readonly [node: string, given: unknown])[] = [];
  readonly #options: WorldOptions;
  #made = 0;
  #returned: Promise<unknown> = Promise.resolve();

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  effect<T = string>(name: string, what: string, result = resultOf(what) as T): Promise<T> {
    const call = (key: string): Promise<T> => this.#call({ what, key }, result);
    return this.#options.isDurable ? this.inTurn(step(name, ({ key }) => call(key))) : call('');
  }

  inTurn<T>(call: Promise<T>): Promise<T> {
    const before = this.#returned;
    this.#returned = Promise.allSettled([before, call]);
    return before.then(() => call);
  }

  inTask(what: string): Promise<string> {
    return this.#call({ what, key: what }, resultOf(what));
  }

  call(what: string): Promise<string> {
    const made = `‹${what}›`;
    return this.#call({ what, key: this.#options.isDurable ? made : '' }, made);
  }

  async #call<T>(effect: Effect, result: T): Promise<T> {
    const { ledger, diesAfter = Number.POSITIVE_INFINITY, onDeath } = this.#options;
    if (this.#made >= diesAfter) return never();
    this.#made += 1;
    appendFileSync(ledger, `${JSON.stringify(effect)}\n`);
    if (this.#made < diesAfter) return result;
    onDeath?.();
    return never();
  }

  isDown(service: string, times: number): boolean {
    const asked = `${this.#options.ledger}.asked`;
    const before = linesOf(asked).filter((line) => line === service).length;
    if (before < times) appendFileSync(asked, `${service}\n`);
    return before < times;
  }

  visit(node: string, given?: unknown): void {
    this.visits.push([node, given]);
  }
}
