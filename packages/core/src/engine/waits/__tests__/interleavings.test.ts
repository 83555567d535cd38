import { END, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { longer } from '../../../../test/support/longer.ts';
import { OwnState } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { sleep, waitFor } from '../../node/waitFor.ts';
import { AClock, HOUR } from './aClock.ts';

const CASES = howMany('DEVS_WAIT_CASES', 12);

/** What a branch waits for, one after the other. */
type Op =
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'signal'; readonly name: string; readonly within: number | null };

/** What happens around the run. */
type Act =
  | { readonly kind: 'step'; readonly ms: number }
  | { readonly kind: 'tell'; readonly id: number }
  | { readonly kind: 'run' | 'runDue' | 'restart' };

const hours = fc.integer({ min: 0, max: 5 }).map((count) => count * HOUR);

/** Branches listen to names of their own: which of two would be told first is not said. */
const opsOf = (name: string): fc.Arbitrary<readonly Op[]> =>
  fc.array(
    fc.oneof(
      hours.map((ms): Op => ({ kind: 'sleep', ms })),
      fc.option(hours).map((within): Op => ({ kind: 'signal', name, within })),
    ),
    { minLength: 1, maxLength: 4 },
  );

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.integer({ min: -72, max: 72 }).map((count): Act => ({ kind: 'step', ms: (count * HOUR) / 4 })),
    fc.nat(8).map((id): Act => ({ kind: 'tell', id })),
    fc.constantFrom('run', 'runDue', 'restart').map((kind): Act => ({ kind })),
  ),
  { maxLength: 14 },
);

interface Branch {
  readonly ops: readonly Op[];
  at: number;
  /** Of the wait it stands at; `undefined` before it has begun. */
  due: number | null | undefined;
  readonly log: string[];
}

/** What should happen, without files and graphs. */
class Model {
  readonly branches: readonly Branch[];
  readonly #mailbox: { readonly name: string; readonly id: number }[] = [];
  readonly #known = new Set<number>();

  constructor(programs: readonly (readonly Op[])[]) {
    this.branches = programs.map((ops) => ({ ops, at: 0, due: undefined, log: [] }));
  }

  tell(name: string, id: number): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    this.#mailbox.push({ name, id });
    return true;
  }

  drive(now: number): void {
    for (const branch of this.branches) while (this.#goesOn(branch, now)) branch.at += 1;
  }

  isDue(now: number): boolean {
    return this.branches.some(({ ops, at, due }) => {
      const op = ops[at];
      if (op === undefined) return false;
      return isOver(due, now) || (op.kind === 'signal' && this.#mailbox.some(({ name }) => name === op.name));
    });
  }

  get isDone(): boolean {
    return this.branches.every(({ ops, at }) => at === ops.length);
  }

  get until(): number | undefined {
    const dates = this.branches.flatMap(({ ops, at, due }) => (at < ops.length ? (due ?? []) : []));
    return dates.length === 0 ? undefined : Math.min(...dates);
  }

  #goesOn(branch: Branch, now: number): boolean {
    const op = branch.ops[branch.at];
    if (op === undefined) return false;
    const length = op.kind === 'sleep' ? op.ms : op.within;
    if (branch.due === undefined) branch.due = length === null ? null : now + length;
    const told = op.kind === 'signal' ? this.#mailbox.findIndex(({ name }) => name === op.name) : -1;
    if (told < 0 && !isOver(branch.due, now)) return false;
    const [message] = told < 0 ? [] : this.#mailbox.splice(told, 1);
    if (op.kind === 'signal') branch.log.push(message === undefined ? 'late' : `${message.id}`);
    branch.due = undefined;
    return true;
  }
}

const isOver = (due: number | null | undefined, now: number): boolean =>
  due !== null && due !== undefined && due <= now;

function graphOf(programs: readonly (readonly Op[])[]) {
  const branch = (ops: readonly Op[]) => async () => {
    const log: string[] = [];
    for (const op of ops) {
      if (op.kind === 'sleep') await sleep(op.ms);
      else if (op.within === null) log.push(String(await waitFor(op.name)));
      else {
        const told = await waitFor(op.name, { within: op.within });
        log.push(told.timedOut ? 'late' : String(told.payload));
      }
    }
    return { log };
  };
  const [left = [], right = []] = programs;
  return new StateGraph(OwnState)
    .addNode('left', branch(left))
    .addNode('right', branch(right))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge('left', END)
    .addEdge('right', END);
}

describe('sleeps, signals, a clock that is set, drives and restarts in any order', () => {
  test('lead to what a model says', { timeout: longer(600_000, CASES / 500) }, async ({ db }) => {
    db.pragma('synchronous = OFF');
    let cases = 0;
    const property = fc.asyncProperty(
      fc.tuple(opsOf('left'), opsOf('right')),
      acts,
      async (programs, done) => {
        cases += 1;
        const id = `run-${cases}`;
        const clock = new AClock();
        const open = () => durable(graphOf(programs), { db, now: clock.now });
        const model = new Model(programs);
        let app = open();
        const look = async (): Promise<void> => {
          const ran = await app.run(id, {});
          if (model.isDone) {
            const log = model.branches.flatMap((branch) => branch.log);
            expect(ran).toMatchObject({ status: 'completed', values: { log } });
          } else expect([ran.status, ran.until]).toEqual(['waiting', model.until]);
        };
        model.drive(clock.at);
        await look();
        for (const act of done) {
          if (model.isDone) break;
          switch (act.kind) {
            case 'step':
              clock.step(act.ms);
              break;
            case 'restart':
              app = open();
              break;
            case 'tell': {
              // The same id says the same: of which name it was is in the id.
              const name = ['left', 'right', 'nobody'][act.id % 3] ?? '';
              const signal = { by: { kind: 'human', id: 'ada' }, signalId: `${act.id}` } as const;
              const { isNew } = await app.signal(id, name, act.id, signal);
              expect(isNew).toBe(model.tell(name, act.id));
              break;
            }
            case 'runDue': {
              const isDue = model.isDue(clock.at);
              const { driven, refused } = await app.runDue();
              expect([driven.filter((one) => one.id === id).length, refused]).toEqual([isDue ? 1 : 0, []]);
              if (isDue) model.drive(clock.at);
              break;
            }
            case 'run':
              model.drive(clock.at);
              await look();
          }
        }
        model.drive(clock.at);
        await look();
        if (!model.isDone) await app.cancel(id);
      },
    );
    await fc.assert(property, { numRuns: CASES });
  });
});
