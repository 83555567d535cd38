import type { EventRecord } from '../../state/events/EventStore.ts';
import type { TurnRange } from './turnRanges.ts';

/** One execution of a node, over its retries and resumes. */
export interface NodeExecutionRecord {
  /** LangGraph's task id; in logs of older runs a name that is made of the node and a number. */
  readonly visit: string;
  readonly hasVisit: boolean;
  readonly node: string;
  readonly start: EventRecord;
  /** The event that ended it; that of its turn, if it never ended by itself. */
  readonly end: EventRecord;
  readonly isOpen: boolean;
  /** The last one. */
  readonly attempt: number;
  /** Why it failed; `null` if it did not. */
  readonly failure: string | null;
  readonly retries: readonly Retry[];
  isOpenAt(seq: number): boolean;
}

/** An attempt that failed before another one. */
export interface Retry {
  readonly at: number;
  readonly attempt: number;
  readonly message: string;
}

type NodeEvent = EventRecord<'NODE_STARTED' | 'NODE_FINISHED' | 'NODE_FAILED' | 'RETRIED'>;

const NODE_EVENTS: Readonly<Record<NodeEvent['name'], true>> = {
  NODE_STARTED: true,
  NODE_FINISHED: true,
  NODE_FAILED: true,
  RETRIED: true,
};

const isNodeEvent = (event: EventRecord): event is NodeEvent => Object.hasOwn(NODE_EVENTS, event.name);

/** The executions that a log tells of, in the order of their starts. */
export function executionsIn(
  log: readonly EventRecord[],
  ranges: readonly TurnRange[],
): readonly NodeExecutionRecord[] {
  const drafts = new Map<string, ExecutionDraft>();
  const numbers = new Map<string, number>();
  for (const event of log.filter(isNodeEvent)) {
    const { node, visit } = event.payload;
    const number = numbers.get(node) ?? 0;
    const before = drafts.get(`${node} ${number}`);
    // Without an id, a node that starts after it has ended is another execution.
    const isNext = visit === undefined && event.name === 'NODE_STARTED' && before?.hasEnded !== false;
    if (isNext) numbers.set(node, number + 1);
    const key = visit ?? `${node} ${isNext ? number + 1 : number}`;
    const draft = drafts.get(key) ?? new ExecutionDraft(key, event);
    drafts.set(key, draft);
    draft.add(event);
  }
  return [...drafts.values()].map((draft) => draft.finish(ranges));
}

class ExecutionDraft {
  readonly #visit: string;
  readonly #events: NodeEvent[] = [];
  readonly #start: NodeEvent;

  constructor(visit: string, start: NodeEvent) {
    this.#visit = visit;
    this.#start = start;
  }

  add(event: NodeEvent): void {
    this.#events.push(event);
  }

  get hasEnded(): boolean {
    return endOf(this.#events) !== null;
  }

  finish(ranges: readonly TurnRange[]): NodeExecutionRecord {
    const events = this.#events;
    const start = this.#start;
    const range = (ranges.find(({ toSeq }) => start.seq <= toSeq) ?? ranges.at(-1)) as TurnRange;
    const own = endOf(events);
    const begun = events.flatMap(({ name, payload }) =>
      name === 'NODE_STARTED' && 'attempt' in payload ? payload.attempt : [],
    );
    return {
      ...{ visit: this.#visit, hasVisit: start.payload.visit !== undefined, node: start.payload.node, start },
      ...{ end: own ?? range.end, isOpen: own === null && range.isOpen },
      attempt: begun.at(-1) ?? 1,
      failure: own !== null && 'message' in own.payload ? own.payload.message : null,
      retries: retriesIn(events),
      isOpenAt: (seq) => endOf(events.filter((event) => event.seq <= seq)) === null,
    };
  }
}

/** LangGraph tries a node again after `NODE_FAILED`, a node of the pipeline after `RETRIED`. */
function retriesIn(events: readonly NodeEvent[]): readonly Retry[] {
  const lastStart = events.findLastIndex(({ name }) => name === 'NODE_STARTED');
  let attempt = 1;
  return events.slice(0, Math.max(0, lastStart)).flatMap(({ at, payload }) => {
    if ('attempt' in payload) attempt = payload.attempt;
    return 'message' in payload ? { at, attempt, message: payload.message } : [];
  });
}

/** The event that ended an execution; `null` if it has started again since. */
function endOf(events: readonly NodeEvent[]): EventRecord<'NODE_FINISHED' | 'NODE_FAILED'> | null {
  const last = events.findLast(({ name }) => name !== 'RETRIED');
  return last === undefined || last.name === 'NODE_STARTED'
    ? null
    : (last as EventRecord<'NODE_FINISHED' | 'NODE_FAILED'>);
}
