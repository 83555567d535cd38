import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { STATE_FILE } from '../../src/config/defaults.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { EventStore } from '../../src/state/events/EventStore.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { StepStore } from '../../src/state/steps/StepStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';
import { DUE, fillWithOneRun, fillWithRuns, LONG } from './files.ts';

/** A state file as a user has it open, and its tables. */
interface Opened {
  readonly dir: string;
  readonly size: number;
  readonly devs: Orchestrator;
  readonly threads: ThreadStore;
  readonly sessions: HitlSessionStore;
  readonly events: EventStore;
  readonly steps: StepStore;
  readonly close: () => void;
}

/** Something that is looked at or done. */
interface Look<Kept> {
  readonly what: string;
  /** @param turn - From 0, another one each time. */
  readonly look: (opened: Kept, turn: number) => unknown;
  /** Why it may grow. */
  readonly grows?: string;
}

export interface Subject<Kept extends { readonly close: () => void } = Opened> {
  /** As it is named on the command line and in the figures. */
  readonly name: string;
  readonly of: string;
  readonly sizes: readonly number[];
  readonly open: (dir: string, size: number) => Promise<Kept>;
  readonly looks: readonly Look<Kept>[];
  /** CPU milliseconds of one turn. @defaultValue those of this process */
  readonly cost?: (work: (turn: number) => unknown) => Promise<number>;
}

const ADA = { kind: 'human', id: 'ada' } as const;
const NOBODY = { lgTaskId: '', name: '' };

async function opened(dir: string, size: number, options: object = {}): Promise<Opened> {
  const db: Database = createDatabase({ dbPath: path.join(dir, STATE_FILE) });
  const devs = await Orchestrator.open({ dir, ...options });
  const close = (): void => {
    devs.close();
    db.close();
  };
  const tables = {
    threads: new ThreadStore(db),
    sessions: new HitlSessionStore(db),
    events: new EventStore(db),
    steps: new StepStore(db),
  };
  return { dir, size, devs, ...tables, close };
}

async function decideOne({ devs }: Opened, turn: number): Promise<void> {
  const run = await devs.run(`${DUE}-${turn}`);
  const [gate] = await run.gates();
  if (gate === undefined) throw new RangeError(`Expected a gate of ${run.id}.`);
  await run.decide(gate, { approved: true, by: ADA });
}

function claimOne({ threads }: Opened, turn: number): void {
  const claim = threads.claim(`${DUE}-${turn}`);
  if (claim.kind === 'claimed') threads.release(claim.lease);
}

async function driveOne({ devs }: Opened, turn: number): Promise<void> {
  const run = await devs.run('plan');
  await run.resume({ only: `T${turn + 1}` });
}

export const manyRuns: Subject = {
  name: 'runs',
  of: 'A file of so many runs, of which a tenth waits at a gate',
  sizes: [100, 1000, 10_000],
  open: (dir, size) => {
    fillWithRuns(dir, size);
    return opened(dir, size);
  },
  looks: [
    {
      what: 'a gate by the beginning of its id',
      look: ({ devs, sessions }) => devs.gatesNamed(idOfOne(sessions)),
    },
    { what: 'the gates of a run', look: async ({ devs }) => (await devs.run(`${DUE}-0`)).gates() },
    { what: 'the first 50 runs, with their state', look: ({ devs }) => devs.list({ limit: 50 }) },
    { what: 'the log of a run', look: async ({ devs }) => (await devs.run('run-1')).log() },
    { what: 'claim a run', look: claimOne },
    { what: 'decide a gate', look: decideOne },
    { what: 'start a run', look: ({ devs }, turn) => devs.start({ id: `new-${turn}`, brief: '# B' }) },
    { what: 'the gates of all runs', look: ({ devs }) => devs.gates(), grows: 'they are what is shown' },
    {
      what: 'open the file',
      look: async ({ dir }) => (await Orchestrator.open({ dir })).close(),
      grows: 'every decision is verified',
    },
  ],
};

const idOfOne = (sessions: HitlSessionStore): string =>
  sessions.listOpen(`${DUE}-0`)[0]?.id.slice(0, 8) ?? '';

export const longRun: Subject = {
  name: 'events',
  of: 'One run of so many events, a hundredth as many calls and answered gates',
  sizes: [10_000, 100_000, 1_000_000],
  open: (dir, size) => {
    fillWithOneRun(dir, size);
    return opened(dir, size);
  },
  looks: [
    { what: 'the first page of its log', look: ({ events }) => events.list(LONG) },
    { what: 'the last page', look: ({ events, size }) => events.list(LONG, { afterSeq: size - 1000 }) },
    { what: 'what people were shown', look: ({ events }) => events.listNamed(LONG, 'GATE_SHOWN') },
    { what: 'requests to it', look: ({ threads }) => threads.signals.pending(LONG, ['pause', 'cancel']) },
    {
      what: 'whether a human has decided here',
      look: ({ sessions }) => sessions.hasHumanDecisionAt(LONG, 'g-100'),
    },
    { what: 'its open gates', look: ({ sessions }) => sessions.listOpen(LONG) },
    {
      what: 'what a task has spent, before a call',
      look: ({ steps }) => steps.spendingBefore({ threadId: LONG, ...NOBODY }, `${LONG}:0`),
    },
    {
      what: 'what the run has spent, before a call',
      look: ({ steps }) => steps.spendingBefore({ threadId: LONG, ...NOBODY }, null),
    },
  ],
};

export const largePlan: Subject = {
  name: 'tasks',
  of: 'A plan of so many tasks',
  sizes: [50, 500, 5000],
  open: async (dir, tasks) => {
    const agents = fakeAgents({ tasks });
    const parts = { agents, workspace: new MemoryWorkspace(), checks: scriptedChecks() };
    const all = await opened(dir, tasks, parts);
    const run = await all.devs.start({ id: 'plan', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
    await run.resume({ until: 'dag' });
    return all;
  },
  looks: [{ what: 'a task', look: driveOne, grows: 'the plan is one value, which every step writes' }],
};
