import { anthropicProtocol, wordSaying } from '../../../agents/test/clis/anthropicProtocol.ts';
import { CliModelServer } from '../../../agents/test/clis/CliModelServer.ts';
import type { Body, Say, Tokens } from '../../../agents/test/clis/Turn.ts';
import { nextStep, type Part, partOf, type Saying } from './developer.ts';
import type { Job } from './Job.ts';
import { type Talk, talkOf } from './Talk.ts';

/** One request, counted as it was sent. */
export interface Counted extends Tokens {
  readonly part: Part;
  /** Tools that were called; none for words. */
  readonly tools: readonly string[];
}

const KEY = 'local-key-0123456789';

/** Bytes that are counted as one token. */
const BYTES = 4;

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES);

/** A provider on loopback whose only model is the developer. Counts what it is sent and what it says. */
export class ModelOffice {
  /** Requests of the work at hand. */
  #counted: Counted[] = [];
  #sent: string[] = [];
  #job: Job | null = null;
  readonly #onLost: () => void;
  #talk: Talk = { tools: [], entries: [] };
  #input = '';
  #saying: Saying = { kind: 'text', text: '' };
  /** Why the developer is lost. */
  fault: Error | null = null;
  #server: CliModelServer | null = null;

  private constructor(onLost: () => void) {
    this.#onLost = onLost;
  }

  /** @param onLost - Called once the developer is lost. */
  static async open(onLost: () => void): Promise<ModelOffice> {
    const office = new ModelOffice(onLost);
    office.#server = await CliModelServer.start({
      key: KEY,
      protocol: {
        ...anthropicProtocol,
        read: (body) => {
          office.#talk = talkOf(body);
          office.#input = sentText(body);
          return anthropicProtocol.read(body);
        },
        word: (_say, request) => {
          const usage = office.#count(office.#saying);
          return wordSaying(office.#saying, { ...request, usage });
        },
      },
      model: () => office.#say(),
    });
    return office;
  }

  /** What leads a client to it, and to nobody else. */
  get env(): Readonly<Record<string, string>> {
    const url = this.#server?.url ?? '';
    return {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: url,
      HTTPS_PROXY: url,
      HTTP_PROXY: url,
      NO_PROXY: '127.0.0.1',
    };
  }

  /** Begins to count anew. */
  begin(job: Job): void {
    this.#job = job;
    this.#counted = [];
    this.#sent = [];
  }

  get counted(): readonly Counted[] {
    return this.#counted;
  }

  async close(): Promise<void> {
    await this.#server?.stop();
  }

  /** A developer who is lost breaks every answer off. */
  #say(): Say {
    if (this.fault === null && this.#job !== null)
      try {
        this.#saying = nextStep(this.#job, this.#talk);
        return { kind: 'text', text: '' };
      } catch (error) {
        this.fault = error as Error;
        this.#onLost();
      }
    return { kind: 'break' };
  }

  #count(say: Saying): Tokens {
    const input = this.#input;
    const known = Math.max(0, ...this.#sent.map((before) => commonLength(before, input)));
    const said = say.kind === 'text' ? say.text : JSON.stringify(callsOf(say));
    const tokens = {
      input: tokensOf(input),
      cached: Math.floor(Buffer.byteLength(input.slice(0, known)) / BYTES),
      output: tokensOf(said),
    };
    this.#sent.push(input);
    this.#counted.push({
      part: partOf(this.#talk),
      tools: callsOf(say).map(({ name }) => name),
      ...tokens,
    });
    return tokens;
  }
}

const callsOf = (say: Saying): readonly { readonly name: string; readonly input: unknown }[] =>
  say.kind === 'text' ? [] : say.kind === 'call' ? [say] : say.calls;

/** What a model reads of a request, in the order in which providers cache it. */
function sentText({ tools, system, messages }: Body): string {
  const unmarked = (key: string, value: unknown): unknown => (key === 'cache_control' ? undefined : value);
  return JSON.stringify([tools, system, messages], unmarked);
}

function commonLength(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}
