import { AsyncLocalStorage } from 'node:async_hooks';
import {
  GraphInterrupt,
  type Interrupt,
  isGraphInterrupt,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import type { ErrorCode } from '../../errors/DevsError.ts';
import { type EventBus, type NewEvent, newEventsOf } from '../../events/events.ts';
import type { NodeStore } from '../../state/RunStore.ts';
import type { Wait } from '../../state/threads/WaitStore.ts';
import { NodeActivities } from '../activity/StepActivities.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { GraphProfile, NodeEngine } from '../graph/NodeEngine.ts';
import { waitInterrupt } from '../waits/waits.ts';
import { InnerRuns } from './innerRuns.ts';

/** The parts of an execution of a node. */
interface Execution {
  readonly visit: NodeExecution;
  readonly taskId: string | null;
  /** The node's, before its work begins. */
  readonly config: LangGraphRunnableConfig;
}

interface ExecutingEngine extends Pick<NodeEngine<never>, 'events' | 'now' | 'runs' | 'store'> {
  readonly profile: Pick<GraphProfile<never>, 'surroundings'>;
}

/** The execution of a node, for the code inside it. */
export class ActiveNode {
  readonly visit: NodeExecution;
  readonly taskId: string | null;
  readonly runs: NodeStore;
  /** `null` in plain LangGraph use without a state file: steps then run unrecorded. */
  readonly store: EngineStore | null;
  readonly events: EventBus;
  readonly surroundings: ReadonlySet<ErrorCode> | undefined;
  /** True when an earlier execution of this visit began a step and did not get to the end. */
  readonly isResumed: boolean;
  /** `place/name` of every step of this execution. */
  readonly stepNames = new Set<string>();
  readonly #claims: Claims = { names: this.stepNames, waits: new Map() };
  readonly calls = new CallsInFlight();
  readonly unrecorded = new UnrecordedCalls(() => this.calls.isInside);
  /** A question before a call: the node leaves with it, even if it caught it. */
  question: GraphInterrupt | null = null;
  /** Set once the node has thrown: what it began side by side may end, and begins no further calls. */
  hasThrown = false;
  /** A failure of the engine in a step: the node leaves with it, even if it caught it. */
  fault: Error | null = null;
  /** Set by `progress()`. */
  progressed = false;
  readonly #config: LangGraphRunnableConfig;
  readonly #engine: ExecutingEngine;
  #told: NodeActivities | null = null;
  #inner: InnerRuns | null = null;
  #waits: NodeWaits | null = null;

  constructor({ visit, taskId, config }: Execution, engine: ExecutingEngine) {
    const { runs, store, events, profile } = engine;
    this.visit = visit;
    this.taskId = taskId;
    this.runs = runs;
    this.store = store;
    this.events = events;
    this.surroundings = profile.surroundings;
    this.isResumed = visit.attempt === 1 && runs.hasBegun(visit.threadId, visit.lgTaskId);
    this.#config = config;
    this.#engine = engine;
    // A retry numbers the graphs that it begins anew.
    if (visit.attempt > 1) this.#inner = new InnerRuns(config);
  }

  /** Whether the node has thrown, and this code may begin only its end. A task that was called before may go on. */
  get isLeft(): boolean {
    return this.hasThrown && (!this.calls.isInside || this.calls.isInsideStep);
  }

  /** Of this execution of the node, or of the task in it around this code. */
  get claims(): Claims {
    const inTask = taskClaims.getStore();
    return inTask?.active === this ? inTask.claims : this.#claims;
  }

  /** Runs a task in it, which uses the names of its place anew in every execution. */
  runTask<T>(work: () => T): T {
    return taskClaims.run({ active: this, claims: { names: new Set(), waits: new Map() } }, work);
  }

  get told(): NodeActivities {
    const { visit, taskId, runs, events } = this;
    this.#told ??= new NodeActivities({ visit, taskId, runs, events, now: this.#engine.now });
    return this.#told;
  }

  /** Counts the waits of one name in one place, from 1. */
  countWait(claim: string): number {
    const { waits } = this.claims;
    const count = (waits.get(claim) ?? 0) + 1;
    waits.set(claim, count);
    return count;
  }

  get inner(): InnerRuns {
    this.#inner ??= new InnerRuns(this.#config);
    return this.#inner;
  }

  get waits(): NodeWaits {
    this.#waits ??= new NodeWaits();
    return this.#waits;
  }

  /** Ids of the tool calls that this execution has begun. */
  get toolCalls(): ReadonlySet<string> {
    return this.unrecorded.begun;
  }

  /**
   * Its work is over: what it told is kept.
   *
   * @param thrown - What the work has thrown.
   * @returns What the node is left with, whatever its author made of it; `null` for what the work has returned or thrown.
   */
  close(thrown: unknown): Error | null {
    this.#told?.close();
    return this.fault ?? this.question ?? this.#waits?.leaving(thrown) ?? null;
  }
}

/** Names used by one execution of a node, or of a task in it. */
interface Claims {
  /** `place/name` of its steps. */
  readonly names: Set<string>;
  /** Of its waits, how many of a name. */
  readonly waits: Map<string, number>;
}

const taskClaims = new AsyncLocalStorage<{ readonly active: ActiveNode; readonly claims: Claims }>();

/** A visit whose steps are recorded. */
export type RecordedNode = ActiveNode & { readonly store: EngineStore };

export function isRecorded(active: ActiveNode): active is RecordedNode {
  return active.store !== null;
}

/** The waits of one execution of a node. */
class NodeWaits {
  readonly #left = new Map<string, Interrupt>();

  /** A wait that has not ended: its node is left, whatever its author makes of what is thrown. */
  leaveAt(wait: Wait): GraphInterrupt {
    return this.leaveWith(waitInterrupt(wait));
  }

  /** The same for a question that has an id: calls side by side may each have one. */
  leaveWith(interrupt: Interrupt & { readonly id: string }): GraphInterrupt {
    this.#left.set(interrupt.id, interrupt);
    return new GraphInterrupt([interrupt]);
  }

  /** What the node is left with: its waits, with the questions that it is left with beside them; `null` without waits. */
  leaving(thrown: unknown): GraphInterrupt | null {
    if (this.#left.size === 0) return null;
    const others = isGraphInterrupt(thrown) ? thrown.interrupts : [];
    const beside = others.filter(({ id }) => id === undefined || !this.#left.has(id));
    return new GraphInterrupt([...beside, ...this.#left.values()]);
  }
}

/** The call around this code: a step, or a task of the functional API, which may ask and wait. */
type InsideOf = 'step' | 'task';

/** Set inside a call: one that waited for the calls in flight would wait for itself. */
const insideCall = new AsyncLocalStorage<InsideOf>();

/** The calls of one visit of a node that have begun and not ended. */
class CallsInFlight {
  readonly #calls = new Set<Promise<void>>();
  /** With all their attempts. */
  readonly #tasks = new Set<Promise<unknown>>();

  /** Whether this code runs inside one of them. */
  get isInside(): boolean {
    return insideCall.getStore() !== undefined;
  }

  get isInsideStep(): boolean {
    return insideCall.getStore() === 'step';
  }

  track<T>(call: () => Promise<T>, kind: InsideOf = 'step'): Promise<T> {
    const running = insideCall.run(this.isInsideStep ? 'step' : kind, call);
    const forget = (): void => {
      this.#calls.delete(ended);
    };
    const ended: Promise<void> = running.then(forget, forget);
    this.#calls.add(ended);
    return running;
  }

  /** A task that LangGraph runs: the visit is not left before it has ended. */
  trackTask<T>(running: Promise<T>): Promise<T> {
    const forget = (): void => {
      this.#tasks.delete(ended);
    };
    const ended: Promise<void> = running.then(forget, forget);
    this.#tasks.add(ended);
    return running;
  }

  /** Resolves when one of them has ended; `null` without one to wait for. */
  next(): Promise<void> | null {
    return this.#calls.size === 0 || this.isInside ? null : Promise.race(this.#calls);
  }

  /** Resolves when all have ended, however they did. */
  async settled(): Promise<void> {
    while (this.#calls.size + this.#tasks.size > 0) await Promise.all([...this.#calls, ...this.#tasks]);
  }
}

interface AskedCall {
  readonly id?: string | undefined;
  readonly name: string;
}

/** The calls of models and tools that one execution of a node has made outside of steps. */
class UnrecordedCalls {
  /** Ids of all tool calls that were begun. */
  readonly begun = new Set<string>();
  readonly #models = new Set<string>();
  /** Names by the ids of the calls. */
  readonly #tools = new Map<string, string>();
  readonly #isInStep: () => boolean;

  /** @param isInStep - Whether this code runs inside of a step. */
  constructor(isInStep: () => boolean) {
    this.#isInStep = isInStep;
  }

  callsModel(name: string): void {
    if (!this.#isInStep()) this.#models.add(name);
  }

  callsTool(id: string, name: string): void {
    this.begun.add(id);
    if (!this.#isInStep()) this.#tools.set(id, name);
  }

  /**
   * Their events, once per run, node and name.
   *
   * @param asked - The calls that the node received. LangChain reports a tool call without the name of the tool.
   * @param claims - Places and names of the steps of the execution: a tool with a step inside is recorded by itself.
   */
  facts(
    { node, threadId, epoch }: NodeExecution,
    claims: ReadonlySet<string>,
    asked: () => readonly AskedCall[],
  ): readonly NewEvent[] {
    if (epoch === null || this.#models.size + this.#tools.size === 0) return [];
    const unrecorded = [...this.#tools].filter(([id]) => !hasStep(encodeURIComponent(id), claims));
    const names = new Map(unrecorded.length === 0 ? [] : asked().map(({ id, name }) => [id, name]));
    const tools = new Set(unrecorded.map(([id, name]) => names.get(id) ?? name));
    const told = newEventsOf((emit) => {
      for (const name of this.#models) emit('CALL_NOT_RECORDED', { node, what: 'model', name }, { threadId });
      for (const name of tools) emit('CALL_NOT_RECORDED', { node, what: 'tool', name }, { threadId });
    });
    return told.map((fact) => ({ ...fact, once: `CALL_NOT_RECORDED/${JSON.stringify(fact.payload)}` }));
  }
}

const hasStep = (id: string, claims: ReadonlySet<string>): boolean =>
  [...claims].some((claim) => claim.includes(`/${id}/`) || claim.includes(`/${id}#`));
