import type { Pool } from 'pg';
import type { RunCodecs } from '../files/RunFiles.ts';
import { heardChannel, type Owner, wordsChannel } from '../server/Owner.ts';

/** How long a run counts as heard without another announcement of its reader, ms. */
const HEARD_MS = 15_000;
/** How often readers announce the runs that they hear, ms. */
const SAY_EVERY_MS = 5000;
/** Sent by a worker that begins to ask: every reader announces its runs at once. */
const WHO_HEARS = '';

/** Of one notification; PostgreSQL takes less than 8,000 bytes, and its other members are short. */
const PART_CHARACTERS = 6500;
/** Longer ones are not sent: the values have them. */
const MOST_BYTES = 64 * 1024;
const MOST_ID_CHARACTERS = 200;
/** That wait for the notifications before them; later ones are lost. */
const MOST_WAITING = 2000;
/** So long words are kept without a reader, ms: a process that starts a run hears it a moment later. */
const KEPT_MS = 2000;
const MOST_KEPT = 1000;

/** Runs that are known to be heard; then those are forgotten that are not any more. */
const MOST_WANTED = 10_000;

/** `[run, tenant, number of the text, part, parts, Base64]` */
type Part = readonly [run: string, tenant: string, text: number, part: number, parts: number, bytes: string];

type Hear = (words: Uint8Array) => void;

/** A text that has come whole, and when, on the clock of `performance`. */
interface Said {
  readonly run: string;
  readonly tenant: string;
  readonly bytes: string;
  readonly at: number;
}

export interface WordsParts {
  readonly pool: Pick<Pool, 'query'>;
  readonly owner: Pick<Owner, 'id' | 'listen'>;
  readonly schema: string;
  readonly codecs: RunCodecs;
}

/**
 * The words of models, from the workers that execute runs to the processes that read them, by notifications. They are not recorded.
 * A worker sends only the words of runs that a reader hears; readers announce these every few seconds.
 */
export class Words {
  readonly #parts: WordsParts;
  readonly #heard = new Map<string, Set<Hear>>();
  /** Parts of the text that is on its way, by its sender. */
  readonly #open = new Map<string, readonly string[]>();
  /** The latest words, of every run. */
  #kept: Said[] = [];
  /** Runs that other processes hear, and until when, on the clock of `performance`. */
  readonly #wanted = new Map<string, number>();
  #waiting: string[] = [];
  #isSending = false;
  #texts = 0;
  #saying: NodeJS.Timeout | null = null;
  #isHearing = false;
  /** Whether the channel of words is listened to: before that, an announcement would be too early. */
  #isListening = false;
  #isAsking = false;

  constructor(parts: WordsParts) {
    this.#parts = parts;
  }

  /** Calls `hear` with the words of a run from a moment ago on. Returns the way to end that. */
  hear(run: string, hear: Hear): () => void {
    this.#listen();
    const hearing = this.#heard.get(run) ?? new Set();
    const own: Hear = (words) => hear(words);
    this.#heard.set(run, hearing.add(own));
    if (hearing.size === 1 && this.#isListening) this.#notify(heardChannel(this.#parts.schema), [run]);
    this.#saying ??= setInterval(() => this.#sayHeard(), SAY_EVERY_MS).unref();
    for (const said of this.#keptNow()) if (said.run === run) this.#tell(said, [own]);
    return () => {
      hearing.delete(own);
      if (hearing.size === 0) this.#heard.delete(run);
      if (this.#heard.size === 0) this.#hush();
    };
  }

  /** Asks readers for the runs that they hear; for a process that has runs to execute. */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const channel = heardChannel(this.#parts.schema);
    const ask = (): void => this.#notify(channel, [WHO_HEARS]);
    this.#parts.owner.listen(channel, (run) => {
      if (run === null) ask();
      else if (run !== WHO_HEARS) this.#wanted.set(run, performance.now() + HEARD_MS);
      if (this.#wanted.size > MOST_WANTED) this.#forget();
    });
    ask(); // the channel may be listened to already
  }

  isHeard(run: string): boolean {
    const until = this.#wanted.get(run) ?? 0;
    return performance.now() < until;
  }

  /** It may be lost. */
  say(run: string, tenant: string, words: Uint8Array): void {
    if (words.byteLength > MOST_BYTES || run.length > MOST_ID_CHARACTERS) return;
    if (this.#waiting.length >= MOST_WAITING) return;
    const text = Buffer.from(this.#parts.codecs(tenant).encode(words)).toString('base64');
    const parts = Math.ceil(text.length / PART_CHARACTERS);
    this.#texts += 1;
    for (let part = 0; part < parts; part += 1) {
      const bytes = text.slice(part * PART_CHARACTERS, (part + 1) * PART_CHARACTERS);
      const sent: Part = [run, tenant, this.#texts, part, parts, bytes];
      this.#waiting.push(`${this.#parts.owner.id} ${JSON.stringify(sent)}`);
    }
    void this.#send();
  }

  close(): void {
    this.#heard.clear();
    this.#hush();
  }

  #hush(): void {
    if (this.#saying !== null) clearInterval(this.#saying);
    this.#saying = null;
  }

  #listen(): void {
    if (this.#isHearing) return;
    this.#isHearing = true;
    const { owner, schema } = this.#parts;
    owner.listen(wordsChannel(schema), (said) => this.#take(said));
    owner.listen(heardChannel(schema), (run) => {
      if (run === WHO_HEARS) this.#sayHeard();
    });
  }

  #sayHeard(): void {
    if (this.#heard.size > 0) this.#notify(heardChannel(this.#parts.schema), [...this.#heard.keys()]);
  }

  #forget(): void {
    for (const run of this.#wanted.keys()) if (!this.isHeard(run)) this.#wanted.delete(run);
  }

  /** One statement after the other: words of meanwhile go with the next. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#waiting.length > 0) {
        const said = this.#waiting;
        this.#waiting = [];
        await this.#notifyAll(wordsChannel(this.#parts.schema), said).catch(() => undefined);
      }
    } finally {
      this.#isSending = false;
    }
  }

  #notify(channel: string, said: readonly string[]): void {
    this.#notifyAll(channel, said).catch(() => undefined); // the next announcement follows soon
  }

  async #notifyAll(channel: string, said: readonly string[]): Promise<void> {
    const sql =
      'SELECT pg_notify($1, said) FROM unnest($2::text[]) WITH ORDINALITY AS each (said, nth) ORDER BY nth';
    await this.#parts.pool.query(sql, [channel, said]);
  }

  /** @param said - `null`: the connection is new, and words of meanwhile are lost. */
  #take(said: string | null): void {
    if (said === null) {
      this.#open.clear();
      this.#isListening = true;
      this.#sayHeard();
      return;
    }
    const end = said.indexOf(' ');
    const part = partOf(said.slice(end + 1));
    const bytes = part === null ? null : this.#whole(part, said.slice(0, end));
    if (part === null || bytes === null) return;
    const [run, tenant] = part;
    const whole = { run, tenant, bytes, at: performance.now() };
    this.#kept = [...this.#keptNow(), whole].slice(-MOST_KEPT);
    this.#tell(whole, this.#heard.get(run) ?? []);
  }

  #keptNow(): readonly Said[] {
    const since = performance.now() - KEPT_MS;
    return this.#kept.filter(({ at }) => at > since);
  }

  /** The text, once its last part has come. */
  #whole([, , , at, parts, bytes]: Part, from: string): string | null {
    const before = at === 0 ? [] : (this.#open.get(from) ?? []);
    this.#open.delete(from);
    if (before.length !== at) return null;
    if (at === parts - 1) return [...before, bytes].join('');
    this.#open.set(from, [...before, bytes]);
    return null;
  }

  #tell({ tenant, bytes }: Said, hearing: Iterable<Hear>): void {
    const all = [...hearing];
    if (all.length === 0) return;
    try {
      const words = this.#parts.codecs(tenant).decode(Buffer.from(bytes, 'base64'));
      for (const hear of all) hear(words);
    } catch {
      // Of another key, or of somebody else.
    }
  }
}

function partOf(said: string): Part | null {
  try {
    const part: unknown = JSON.parse(said);
    return Array.isArray(part) && part.length === 6 ? (part as unknown as Part) : null;
  } catch {
    return null;
  }
}
