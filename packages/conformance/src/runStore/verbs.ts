import type { NewEvent } from '../../../core/src/events/events.ts';
import type { NodeTurn, RunStore, WriteScope } from '../../../core/src/state/RunStore.ts';
import type { NewStep } from '../../../core/src/state/steps/stepRecords.ts';
import type { Lease } from '../../../core/src/state/threads/threadRecords.ts';
import type { TurnType } from '../../../core/src/state/types.ts';

/** The run that the cases are about. */
export const RUN = 'run-1';

export const DRAFT: NewStep = {
  threadId: RUN,
  lgTaskId: 'visit-1',
  name: 'draft',
  node: 'work',
  taskId: null,
};

export const MAY_BEGIN = { mayBegin: true, reserve: { usd: 0, tokens: 0 }, facts: [] as readonly NewEvent[] };

export const started: NewEvent = {
  name: 'NODE_STARTED',
  payload: { node: 'work', attempt: 1 },
  scope: { threadId: RUN },
};

let turns = 0;

export function aTurn(turnType: TurnType, facts: readonly NewEvent[] = []): NodeTurn {
  turns += 1;
  const about = { graphId: RUN, nodeName: 'work', taskId: RUN, visit: 'visit-1' };
  const entry = { ...about, id: `turn-${turns}`, turnType, state: { draft: turns }, createdAt: new Date(0) };
  return { entry, taskId: null, facts };
}

export const aQuestion = {
  threadId: RUN,
  interruptId: 'i-1',
  questionKey: 'interrupt/i-1',
  kind: 'interrupt',
  taskId: RUN,
  artifactHash: 'a'.repeat(64),
  question: { message: 'Go on?', artifact: null },
  checkpointId: 'c-1',
} as const;

/** The arguments of a verb. */
export interface VerbCall {
  readonly runs: RunStore;
  readonly at: WriteScope;
  readonly lease: Lease;
  /** Events that go with its rows. */
  readonly facts: readonly NewEvent[];
}

/** A verb that a driver writes with, and where its work is seen. */
export interface DriversVerb {
  readonly name: string;
  /** @defaultValue nothing */
  readonly before?: (called: VerbCall) => void;
  readonly call: (called: VerbCall) => unknown;
}

/** Each verb of a driver that writes, as it is called in a run that was claimed. */
export const DRIVERS_VERBS: readonly DriversVerb[] = [
  { name: 'enter', call: ({ runs, at, facts }) => runs.enter(at, aTurn('Thought', facts)) },
  { name: 'note', call: ({ runs, at, facts }) => runs.note(at, facts) },
  {
    name: 'beginStep',
    call: ({ runs, at, facts }) => runs.beginStep(at, DRAFT, () => ({ ...MAY_BEGIN, facts })),
  },
  ...(['done', 'failed', 'refused'] as const).map((kind) => ({
    name: `endStep ${kind}`,
    before: ({ runs, at }: VerbCall) => void runs.beginStep(at, DRAFT, () => MAY_BEGIN),
    call: ({ runs, at, facts }: VerbCall) => {
      const refusal = { code: 'VALUE_TOO_LARGE', message: 'Too large.' } as const;
      runs.endStep(at, DRAFT, { kind, result: 'text', refusal, usage: {}, facts });
    },
  })),
  {
    name: 'ask',
    call: ({ runs, at, facts }) => runs.ask(at, [{ question: aQuestion, facts: () => facts }]),
  },
  {
    name: 'settle',
    call: ({ runs, lease, facts }) =>
      runs.settle(lease, { status: 'paused', reason: null, seenWakeSeq: 0, facts }),
  },
  { name: 'goal', call: ({ runs, lease, facts }) => runs.goal(lease, { epic: 'one' }, facts) },
];

/** Verbs of a driver that emit no event, or one that they choose. */
export const QUIET_VERBS: readonly DriversVerb[] = [
  {
    name: 'transcribe',
    call: ({ runs, at }) => {
      const entries = [[0, { kind: 'doing', what: 'draft' }]] as const;
      runs.transcribe(at, { ...DRAFT, attempt: 1 }, { entries: [...entries], skipped: 0 }, null);
    },
  },
  {
    name: 'begin',
    call: ({ runs, lease }) => runs.begin(lease, { recovered: true, allowsRefused: true }),
  },
  {
    name: 'consume',
    before: ({ runs }) => void runs.signal(RUN, { id: 'asked', kind: 'pause', payload: null }),
    call: ({ runs, lease }) => runs.consume(lease, 'pause'),
  },
];
