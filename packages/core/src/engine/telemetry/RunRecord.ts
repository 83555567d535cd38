import type { EventRecord } from '../../state/events/EventStore.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { StepSummary } from '../../state/steps/stepRecords.ts';

/** One input of a run. */
interface RecordedTurn {
  /** From 1. */
  readonly number: number;
  /** `null` for the turn of a run that was started without a key. */
  readonly key: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly begunAt: number;
}

/** A step, with its result if contents are asked for. */
export interface RecordedStep extends StepSummary {
  /** JSON. */
  readonly result?: string;
}

/** What is recorded of a run, up to an event of its log. */
export interface RunRecord {
  readonly id: string;
  /** Name of its graph; `null` for an unnamed one. */
  readonly graph: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Runs that this one is a child of, or that are its children. */
  readonly related: readonly string[];
  /** Oldest first. */
  readonly log: readonly EventRecord[];
  readonly turns: readonly RecordedTurn[];
  readonly steps: readonly RecordedStep[];
}

interface ReadOptions {
  /** The last event to read. @defaultValue the newest */
  readonly upTo?: number;
  /** Also results of steps. @defaultValue false */
  readonly content?: boolean;
}

/** The file of a run. */
export type ReadFile = Pick<StateFile, 'threads' | 'log' | 'steps' | 'inputs' | 'children'>;

const PAGE = 1000;

/** Reads the record of a run. Writes nothing. @throws DevsError `THREAD_NOT_FOUND` */
export function readRunRecord(
  id: string,
  store: ReadFile,
  { upTo = Number.MAX_SAFE_INTEGER, content = false }: ReadOptions = {},
): RunRecord {
  const { createdAt, policies } = store.threads.require(id);
  const graph = policies['graphName'];
  const turns = store.inputs.list(id).map(({ turn, key, begunAt }) => ({
    ...{ number: turn, key, begunAt: begunAt ?? createdAt },
  }));
  const steps = store.steps.listForThread(id);
  return {
    ...{ id, createdAt, graph: typeof graph === 'string' ? graph : null },
    related: relatedRuns(id, store),
    log: logUpTo(id, upTo, store),
    turns: turns.length > 0 ? turns : [{ number: 1, key: null, begunAt: createdAt }],
    steps: content ? steps.map((step) => withResult(step, store)) : steps,
  };
}

function logUpTo(id: string, upTo: number, { log }: ReadFile): readonly EventRecord[] {
  const events: EventRecord[] = [];
  for (;;) {
    const page = log.list(id, { afterSeq: events.at(-1)?.seq ?? 0, limit: PAGE });
    events.push(...page.filter(({ seq }) => seq <= upTo));
    if (page.length < PAGE || (page.at(-1)?.seq ?? upTo) >= upTo) return events;
  }
}

function relatedRuns(id: string, { children }: ReadFile): readonly string[] {
  const parent = children.find(id)?.parentId;
  const own = children.below(id).filter((child) => children.find(child)?.parentId === id);
  return [...(parent === undefined ? [] : [parent]), ...own];
}

function withResult(step: StepSummary, { steps }: ReadFile): RecordedStep {
  const recorded = step.state === 'done' ? steps.find(step) : null;
  return recorded?.state === 'done' ? { ...step, result: JSON.stringify(recorded.result) } : step;
}
