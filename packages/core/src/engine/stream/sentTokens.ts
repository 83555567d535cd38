// The words of models in a run, from the process that executes it to those that read it. They are not recorded.

import { StrictSerde } from '../saver/StrictSerde.ts';
import type { Provisional, TokenReader } from './LiveTokens.ts';
import type { TokensChunk } from './StreamEvent.ts';

/** A piece on its way. */
interface SentPiece {
  /** Of the lease under which it was sent. */
  readonly epoch: number;
  /** Position of the newest stored event at that time. */
  readonly after: number;
  readonly event: Provisional;
}

/** Where pieces of a run are sent to. */
export interface SentWords {
  /** Whether another process reads the run, as far as that is known here. */
  isHeard(): boolean;
  /** It may be lost. */
  say(words: Uint8Array): void;
}

const serde = new StrictSerde({ maxDepth: 900, numbers: 'every' });

/** Sends the words of models to the processes that read the run. */
export class SentTokens implements TokenReader {
  readonly #words: SentWords;
  readonly #place: { readonly epoch: number; readonly lastSeq: () => number };
  #sent: Promise<void> = Promise.resolve();

  constructor(words: SentWords, place: { readonly epoch: number; readonly lastSeq: () => number }) {
    this.#words = words;
    this.#place = place;
  }

  get isThere(): boolean {
    return this.#words.isHeard();
  }

  hear(event: Provisional): void {
    if (!this.isThere) return;
    const piece: SentPiece = { epoch: this.#place.epoch, after: this.#place.lastSeq(), event };
    this.#sent = this.#sent.then(() => this.#send(piece)).catch(() => undefined); // the values will have it
  }

  async #send(piece: SentPiece): Promise<void> {
    const dumped = await serde.dumpsTyped(piece).catch(() => serde.dumpsTyped(withoutMetadata(piece)));
    const [type, bytes] = dumped;
    this.#words.say(Buffer.concat([Buffer.from(`${type}\n`), bytes]));
  }
}

/** An application can put into it what cannot be stored. */
const withoutMetadata = ({ event, ...at }: SentPiece): SentPiece => ({
  ...at,
  event: event.mode === 'messages' ? { ...event, metadata: {} } : event,
});

/** Pieces that wait for their reader; a slower one misses the oldest ones. */
const MAX_WAITING = 10_000;

/** A task that has streamed words. */
type Teller = Pick<Provisional, 'task' | 'node' | 'step'>;

/** Receives the words of models in another process, and gives them out between the stored events. */
export class HeardTokens {
  readonly #subgraphs: boolean;
  readonly #from: number;
  readonly #wake: () => void;
  #waiting: SentPiece[] = [];
  #epoch = 0;
  readonly #tellers = new Map<string, Teller>();
  /** By model call, the piece that comes next. */
  readonly #next = new Map<string, number>();
  /** Tasks with a result that was read: later words of them are late. */
  readonly #over = new Set<string>();
  #heard: Promise<void> = Promise.resolve();

  /**
   * @param from - Position of the last event that its reader knows: earlier words are over.
   * @param wake - Called when words have come.
   */
  constructor({ subgraphs, from }: { readonly subgraphs: boolean; readonly from: number }, wake: () => void) {
    this.#subgraphs = subgraphs;
    this.#from = from;
    this.#wake = wake;
  }

  /** Takes a sent piece. An unreadable one is not for this release. */
  hear(words: Uint8Array): void {
    this.#heard = this.#heard.then(() => this.#take(words)).catch(() => undefined);
  }

  /** The words before a stored event. */
  before(seq: number): readonly Provisional[] {
    return this.#given(({ after }) => after < seq);
  }

  /** The words where the stored events are read up to `seq`: later words are held back until those events have come. */
  upTo(seq: number): readonly Provisional[] {
    return this.#given(({ after }) => after <= seq);
  }

  /** The result of a task was read. */
  ends(task: string): void {
    this.#over.add(task);
    this.#tellers.delete(task);
  }

  /** The run, or its turn, was read to its end. */
  endAll(): void {
    this.#over.clear();
    this.#tellers.clear();
    this.#next.clear();
  }

  #given(isOfNow: (piece: SentPiece) => boolean): readonly Provisional[] {
    const given = this.#waiting.filter(isOfNow);
    this.#waiting = this.#waiting.filter((piece) => !isOfNow(piece));
    return given.map(({ event }) => event).filter(({ task }) => !this.#over.has(task));
  }

  async #take(words: Uint8Array): Promise<void> {
    const end = words.indexOf(0x0a);
    const type = Buffer.from(words.subarray(0, end)).toString();
    const piece = (await serde.loadsTyped(type, words.subarray(end + 1))) as SentPiece;
    const { epoch, after, event } = piece;
    if (epoch < this.#epoch) return; // of a process that has lost the run
    if (after < this.#from) return;
    if (epoch > this.#epoch) this.#begunAnew(epoch, after);
    if (event.mode === 'messages' && !this.#isNext(event)) return;
    const { task, node, step } = event;
    this.#tellers.set(task, { task, node, step });
    this.#add(piece);
    this.#wake();
  }

  /** A message with a hole ends there: after a lost piece, its values come next. */
  #isNext({ id, piece, ns }: TokensChunk): boolean {
    if (ns.length > 0 && !this.#subgraphs) return false;
    if (piece !== (this.#next.get(id) ?? 0)) return false;
    this.#next.set(id, piece + 1);
    return true;
  }

  /** Another process executes the run: its tasks repeat their words. */
  #begunAnew(epoch: number, after: number): void {
    this.#epoch = epoch;
    for (const teller of this.#tellers.values())
      this.#add({ epoch, after, event: { mode: 'restarted', ...teller, attempt: 1 } });
    this.#tellers.clear();
    this.#next.clear();
  }

  #add(piece: SentPiece): void {
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push(piece);
  }
}
