import { randomInt } from 'node:crypto';
import { HumanMessage } from '@langchain/core/messages';
import {
  Command,
  INTERRUPT,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { DyingFile } from '../../../../test/support/DyingFile.ts';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { longer } from '../../../../test/support/longer.ts';
import { tried } from '../../../../test/support/tried.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';

/** Chats; `DEVS_TURN_SEED=42` repeats which. */
const CASES = howMany('DEVS_TURN_CASES', 6);

const SEED = Number(process.env['DEVS_TURN_SEED'] ?? randomInt(2 ** 31));

/** What the world is like: a service that is down makes some turns fail. */
interface World {
  isDown: boolean;
}

/** A chat that hears, asks a human where a message says so, and needs a service where one says so. */
function chat(world: World, isDurable: boolean) {
  const hear = async ({ messages }: typeof MessagesAnnotation.State) => {
    const heard = () => `heard ${messages.length}`;
    return { messages: [{ role: 'assistant', content: isDurable ? await step('llm', heard) : heard() }] };
  };
  return new StateGraph(MessagesAnnotation)
    .addNode('hear', hear)
    .addNode('act', ({ messages }) => {
      const asked = messages.at(-2)?.text ?? '';
      if (asked.startsWith('need') && world.isDown) throw new Error('down');
      if (!asked.startsWith('ask')) return {};
      return { messages: [{ role: 'assistant', content: interrupt<string, string>(asked) }] };
    })
    .addNode('close', () => ({ messages: [{ role: 'assistant', content: 'done' }] }))
    .addEdge(START, 'hear')
    .addEdge('hear', 'act')
    .addEdge('act', 'close');
}

type Status = 'completed' | 'waiting' | 'failed' | 'cancelled';

interface Stand {
  readonly status: Status;
  readonly said: readonly string[];
}

const texts = (values: unknown): readonly string[] =>
  ((values as { messages?: { text: string }[] } | null)?.messages ?? []).map(({ text }) => text);

const inputOf = (text: string) => ({ messages: [new HumanMessage(text)] });

/** What a chat must be, by LangGraph alone and a table of turns. */
class Model {
  readonly #config = { configurable: { thread_id: 'chat' } };
  readonly #graph;
  readonly #turns = new Map<string, { readonly text: string; stand: Stand }>();
  #current: string | null = null;

  constructor(world: World) {
    this.#graph = chat(world, false).compile({ checkpointer: new MemorySaver() });
  }

  async run(key: string, text: string): Promise<Stand | 'INPUT_NOT_TAKEN'> {
    const known = this.#turns.get(key);
    if (known !== undefined) {
      if (known.text !== text) return 'INPUT_NOT_TAKEN';
      return key === this.#current ? this.retry() : known.stand;
    }
    if (this.stand?.status === 'waiting') return 'INPUT_NOT_TAKEN';
    this.#current = key;
    this.#turns.set(key, { text, stand: { status: 'failed', said: [] } });
    return this.#invoke(inputOf(text));
  }

  async retry(): Promise<Stand> {
    const stand = this.stand as Stand;
    return stand.status === 'failed' ? this.#invoke(null) : stand;
  }

  async answer(value: string): Promise<Stand> {
    return this.#invoke(new Command({ resume: value }));
  }

  cancel(): void {
    const { stand } = this;
    if (stand?.status === 'waiting' || stand?.status === 'failed')
      this.#note({ ...stand, status: 'cancelled' });
  }

  get stand(): Stand | undefined {
    return this.#turns.get(this.#current ?? '')?.stand;
  }

  async #invoke(input: unknown): Promise<Stand> {
    const status = await this.#graph.invoke(input as never, this.#config).then(
      (result): Status => (INTERRUPT in result ? 'waiting' : 'completed'),
      (): Status => 'failed',
    );
    return this.#note({ status, said: texts((await this.#graph.getState(this.#config)).values) });
  }

  #note(stand: Stand): Stand {
    const turn = this.#turns.get(this.#current ?? '');
    if (turn !== undefined) turn.stand = stand;
    return stand;
  }
}

type Act =
  | { readonly act: 'run'; readonly key: string; readonly text: string }
  | { readonly act: 'answer' | 'cancel' | 'retry' | 'repair' | 'break' };

/** An act, and at which of its writes the process dies that does it. */
type Tried = readonly [Act, dies: number | null];

const acts: fc.Arbitrary<readonly Tried[]> = fc.array(
  fc.tuple<[Act, number | null]>(
    fc.oneof<fc.MaybeWeightedArbitrary<Act>[]>(
      {
        weight: 5,
        arbitrary: fc.record({
          act: fc.constant('run' as const),
          key: fc.constantFrom('m-1', 'm-2', 'm-3', 'm-4', 'm-5'),
          text: fc.constantFrom('hello', 'ask me', 'need it'),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.constantFrom<Act>(
          { act: 'answer' },
          { act: 'cancel' },
          { act: 'retry' },
          { act: 'repair' },
          { act: 'break' },
        ),
      },
    ),
    fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 30 })),
  ),
  { minLength: 6, maxLength: 14 },
);

/** A process that has the chats open, and dies at a write. */
function open(dbPath: string, world: World, dies: number | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  const file = new DyingFile(db, dies === null ? null : { write: dies, side: 'after' });
  return { db, file, app: durable(chat(world, true), { db }) };
}

type Process = ReturnType<typeof open>;

/** What a client sees of an act; it does the same again after a death. */
async function doIn({ app }: Process, id: string, act: Act): Promise<Stand | string | null> {
  if (act.act === 'cancel') await app.cancel(id);
  if (act.act === 'answer') {
    for (const gate of await app.gates(id)) await app.decide(gate, { value: 'yes', by: ada });
  }
  const { status, values } =
    act.act === 'run'
      ? await app.run(id, inputOf(act.text), { throwOnFailure: false, turn: act.key })
      : await app.run(id, undefined, { throwOnFailure: false });
  return { status: status as Status, said: texts(values) };
}

async function doInModel(model: Model, act: Act): Promise<Stand | string | null> {
  if (act.act === 'run') return model.run(act.key, act.text);
  if (act.act === 'cancel') model.cancel();
  if (act.act === 'answer' && model.stand?.status === 'waiting') return model.answer('yes');
  return model.stand === undefined ? 'THREAD_NOT_FOUND' : model.retry();
}

const codeOf = (error: unknown): string => {
  if (isDevsError(error)) return error.code;
  throw error;
};

/** What its death does for a real process. */
const leaveToOthers = (db: Database): unknown => db.prepare('UPDATE threads SET lease_owner = NULL').run();

interface Chat {
  readonly id: string;
  readonly dbPath: string;
  readonly world: World;
  readonly model: Model;
  /** Alive. */
  readonly process: Process;
  readonly opening: number;
}

/** Does an act, again if its process has died in it, and compares; returns the deaths. */
async function compare(
  { id, dbPath, world, model, process, opening }: Chat,
  [act, dies]: Tried,
): Promise<number> {
  let deaths = 0;
  if (act.act === 'repair' || act.act === 'break') {
    world.isDown = act.act === 'break';
    return 0;
  }
  if (dies !== null) {
    const dying = open(dbPath, world, dies + opening);
    await doIn(dying, id, act).catch(() => null);
    if (!dying.db.open) deaths += 1;
    dying.db.close();
    leaveToOthers(process.db);
    if (deaths === 0) return compare({ id, dbPath, world, model, process, opening }, [act, null]);
  }
  const own = await doIn(process, id, act).catch(codeOf);
  expect(own).toEqual(await doInModel(model, act));
  return deaths;
}

describe('a chat', () => {
  test('with any acts and deaths says what LangGraph alone says to the same turns', {
    timeout: longer(300_000, CASES / 100),
  }, async ({ dbPath, annotate, task }) => {
    await annotate(`seed ${SEED}`);
    let chats = 0;
    let deaths = 0;
    const world: World = { isDown: true };
    const process = open(dbPath, world, null);
    const another = open(dbPath, world, null);
    const opening = another.file.writes;
    another.db.close();
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        chats += 1;
        world.isDown = true;
        const own = { id: `chat ${chats}`, dbPath, world, model: new Model(world), process, opening };
        for (const each of all) deaths += await compare(own, each);
      }),
      { numRuns: CASES, seed: SEED },
    );
    process.db.close();
    tried(task, { ways: chats });
    expect(deaths).toBeGreaterThan(0);
  });
});
