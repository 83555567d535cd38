import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** The outside world. Each call is a line of the ledger before it returns, so that calls can be counted. */
export interface World {
  /** A model that costs money. */
  model(prompt: string, key: string): Promise<string>;
  /** Anything that must not happen twice: a mail, a booking, a post. Returns its receipt. */
  send(what: string, key: string): Promise<string>;
  /** A service that is down the first time. */
  weather(city: string, key: string): Promise<string>;
  /** Writes a call of any other kind into the ledger. */
  call<T>(what: string, key: string, result: T): Promise<T>;
}

export interface Effect {
  readonly what: string;
  /** The idempotency key of the step that made the call. */
  readonly key: string;
}

export interface WorldOptions {
  readonly ledger: string;
  /** What the model says to a prompt. */
  readonly model: (prompt: string) => string;
  /** Told the number of each call that was made, from 1, after its line was written. */
  readonly onEffect?: (made: number) => void;
}

export const effectsIn = (ledger: string): readonly Effect[] =>
  linesOf(ledger).map((line) => JSON.parse(line) as Effect);

export const linesOf = (path: string): readonly string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

export function openWorld({ ledger, model, onEffect = () => {} }: WorldOptions): World {
  let made = 0;
  const call = async <T>(what: string, key: string, result: T): Promise<T> => {
    appendFileSync(ledger, `${JSON.stringify({ what, key } satisfies Effect)}\n`);
    made += 1;
    onEffect(made);
    return result;
  };
  return {
    call,
    model: (prompt, key) => call(`model: ${prompt}`, key, model(prompt)),
    send: (what, key) => call(`send: ${what}`, key, `receipt of ${what}`),
    async weather(city, key) {
      const refused = `${ledger}.refused`;
      if (!linesOf(refused).includes(city)) {
        appendFileSync(refused, `${city}\n`);
        throw new Error('The weather service is down.');
      }
      return call(`weather: ${city}`, key, `sunny in ${city}`);
    },
  };
}
