import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';

/** Ids and hashes: of gates, commits, and what a gate shows. */
const HEX = /\b[0-9a-f]{7,40}\b/g;
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const SECOND = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g;
const ELAPSED = /^ *\d+\.\ds(?= {2})/gm;
/** Newer versions of `node --test` begin the lines of their summary in another way. */
const RUNNER_LINE = /^( *(?:│ )?)ℹ /gm;
/** Of checks, as `devs show` prints them. */
const TOOK = /(?<=^Times {3}.*| in )\d+\.\d s\b/gm;
const DURATION = /duration_ms [\d.]+/g;

const USER = userInfo().username;

/** Two forms of one id share their beginning. */
const PREFIX = 7;

/** Gives what differs from run to run the same form every time; one id keeps one form throughout. */
export class Stabiliser {
  readonly #home: string;
  readonly #ids = new Map<string, string>();

  /** @param home - The folder that becomes `~`. */
  constructor(home: string) {
    this.#home = home;
  }

  /** @param day - For the dates in the text, as `2026-03-02`. */
  stable(text: string, day: string): string {
    let lines = 0;
    return text
      .replaceAll(this.#home, '~')
      .replace(INSTANT, `${day}T09:30:00.000Z`)
      .replace(SECOND, `${day} 09:30:00Z`)
      .replace(ELAPSED, () => `${(lines++ * 0.5).toFixed(1)}s`.padStart(7))
      .replace(HEX, (id) => this.#formOf(id))
      .replace(RUNNER_LINE, '$1# ')
      .replace(TOOK, '0.5 s')
      .replace(DURATION, 'duration_ms 250')
      .replaceAll(`by ${USER}`, 'by ada')
      .replaceAll(`  - ${USER}: `, '  - ada: ')
      .replaceAll(`by human:${USER}`, 'by human:ada');
  }

  #formOf(id: string): string {
    const key = id.slice(0, PREFIX);
    const known = this.#ids.get(key) ?? createHash('sha1').update(`${this.#ids.size}`).digest('hex');
    this.#ids.set(key, known);
    return known.slice(0, id.length);
  }
}
