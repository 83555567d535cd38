import type { BudgetLimits } from '../config/budgetMeasures.ts';
import type { Activity, ActivityListener, ActivityScope } from './Activity.ts';

/** Evidence a guard leaves: what it measured, against which limit. */
export interface GuardEvidence {
  /** `retry`, `error`, `pivot`, `failure_gate`, `budget` or `depth`. */
  readonly guard: string;
  /** What it counts or weighs: `attempts`, `turns`, `entropy`, `usd`, `depth`, … */
  readonly measure: string;
  readonly level: number;
  readonly limit: number;
  /** Why, as plain JSON. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** What a decision says about what its gate did not show. */
export interface HiddenRecord {
  /** Places of it that were hidden. */
  readonly count: number;
  /** Which of them the decider was shown, by their numbers in reading order, from 1. */
  readonly revealed: readonly number[];
}

/** Which execution of a node. */
interface OfVisit {
  /** LangGraph's id of the task: the same over retries and resumes. Absent in older runs. */
  readonly visit?: string;
}

/** Every event of the engine with its payload: ids, numbers and masked text, without states. */
export interface OrchestratorEvents {
  /** The depth reached 80 % of the limit; the run continues. */
  RECURSION_DEPTH_WARNING: { readonly depth: number; readonly limit: number };
  /** The depth reached the limit; the run is suspended. */
  RECURSION_LIMIT_REACHED: { readonly depth: number; readonly limit: number };
  /** A gate is stored and can be read; it can be decided after it is bound to its interrupt. */
  HITL_SESSION_OPENED: { readonly sessionId: string; readonly kind: string; readonly taskId: string };
  /** A decision was recorded. */
  HITL_SESSION_DECIDED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** The way it was decided, where that was said: `page`, `command`, `file`, … */
    readonly via?: string;
    /**
     * The human put a version of their own in the place of what was shown. A gate of the pipeline asks again, about that;
     * a declared one has taken it as approved.
     */
    readonly edited?: true;
    /** `approved`, `rejected`, `edited`, `answered`, or the action: `retry`, `skip`, `raise`, … Absent in older runs. */
    readonly said?: string;
    /** How many places of what was shown were hidden, and the numbers of those that the decider was shown; where any were. */
    readonly hidden?: HiddenRecord;
    /** Feedback, guidance, reason or value: masked, one line, cut at 200 characters. */
    readonly words?: string;
    /** What was added to a budget. */
    readonly raised?: BudgetLimits;
    /** Of a review: the tasks that are done again, such as `T2`. */
    readonly tasks?: readonly string[];
    /** On how many places a rejection comments. */
    readonly comments?: number;
  };
  /** One of several approvers approved; the last one is followed by the decision. */
  GATE_VOTED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Yeses so far, and how many it takes. */
    readonly votes: number;
    readonly needed: number;
    readonly hidden?: HiddenRecord;
  };
  /** A deadline of a gate passed: reminder. */
  GATE_REMINDED: {
    readonly sessionId: string;
    readonly kind: string;
    /** Milliseconds from when it was opened. */
    readonly within: number;
  };
  /** A deadline of a gate passed: other people are named. */
  GATE_REASSIGNED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly within: number;
    readonly to: readonly string[];
  };
  /** The gate's content changed after its answer: the answer is discarded and the gate asks again. */
  HITL_ANSWER_VOIDED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Of what the answer was given for. */
    readonly artifactHash: string;
    /** Hash of what the gate shows now. */
    readonly shows: string;
  };
  /** The program's own schema rejects a recorded value: the gate asks again. */
  HITL_ANSWER_REFUSED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
  };
  /** An outdated signal was ignored, such as a decision on a gate that was asked again. */
  SIGNAL_PASSED_OVER: {
    readonly id: string;
    /** `decision`, `message`, `pause` or `cancel`. */
    readonly kind: string;
    readonly why: string;
  };
  /** A person viewed a gate. */
  GATE_SHOWN: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    readonly artifactHash: string;
  };
  /** A person read the hidden places of a gate. */
  GATE_REVEALED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    readonly artifactHash: string;
    /** Places that were shown. */
    readonly count: number;
    /** SHA-256 (hex) of where they are; nothing of what is in them. */
    readonly places: string;
  };
  /** A person asked about an open gate and received an answer. */
  GATE_ASKED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Masked, one line, cut at 200 characters. */
    readonly question: string;
  };
  /** An agent asked for a permission and the policy answered. At most 100 per step. */
  AGENT_ASKED: {
    readonly node: string;
    readonly step: string;
    /** Masked, one line, cut at 200 characters; so is `why`. */
    readonly title: string;
    readonly granted: boolean;
    readonly why: string;
  };
  /** A failure gate opened; emitted after its row is committed. */
  FAILURE_GATE_OPENED: { readonly taskId: string; readonly sessionId: string };
  /** A journal row could not be written; the run continues without it. */
  CHECKPOINT_SAVE_FAILED: { readonly nodeName: string; readonly message: string };
  /** The run has lost journal rows; it continues, marked. */
  RUN_DEGRADED: { readonly reason: string };
  /** A node passed its gates and starts. */
  NODE_STARTED: { readonly node: string; readonly attempt: number } & OfVisit;
  /** A node's output will be committed. */
  NODE_FINISHED: { readonly node: string; readonly durationMs: number } & OfVisit;
  /** A step's result is recorded. */
  STEP_FINISHED: { readonly node: string; readonly step: string; readonly attempt: number };
  /** The rest of a step's transcript could not be stored; the step continues. */
  TRANSCRIPT_LOST: { readonly node: string; readonly step: string; readonly message: string };
  /** A node threw, after its retries. */
  NODE_FAILED: { readonly node: string; readonly message: string } & OfVisit;
  /** A task's checks passed and its work is committed. */
  TASK_COMPLETED: { readonly taskId: string; readonly name: string; readonly gitHash: string };
  /** An attempt at a task failed and is repeated; `final`: the task was abandoned. */
  TASK_FAILED: { readonly taskId: string; readonly name: string; readonly final: boolean };
  /** A person skipped a task; the run continues without it. */
  TASK_SKIPPED: { readonly taskId: string; readonly name: string };
  /** A person sent back the code of a completed task; it is redone. */
  TASK_REOPENED: { readonly taskId: string; readonly name: string };
  /** A task depends on an abandoned or skipped task. */
  TASK_BLOCKED: { readonly taskId: string; readonly name: string };
  /** A new strategy was chosen for a task. */
  PIVOTED: { readonly taskId: string; readonly strategy: string };
  /** A person rewound the run to the end of a task. */
  REWOUND: {
    readonly targetTaskId: string;
    /** How many tasks are pending again. */
    readonly undone: number;
    /** Their ids. */
    readonly tasks: readonly string[];
    readonly principal: string;
    readonly reason?: string;
  };
  /** A person undid a rewind. */
  REWIND_UNDONE: { readonly targetTaskId: string; readonly principal: string; readonly reason?: string };
  /** A run continues with agents or prompts other than those of its start. */
  AGENTS_CHANGED: { readonly started: string; readonly now: string };
  /** A person skipped the sandbox for one execution. */
  SANDBOX_WAIVED: { readonly principal: string };
  /** Files in the run's folder that the engine did not write were saved as a commit, then replaced. */
  WORKSPACE_RESCUED: { readonly ref: string; readonly commit: string; readonly files: number };
  /** A person's changes in the run's folder were committed in their name. */
  CHANGES_ADOPTED: { readonly principal: string; readonly commit: string; readonly files: number };
  /** The run's commits were moved onto the user's newer commits. */
  RUN_SYNCED: {
    readonly principal: string;
    readonly base: string;
    readonly commits: number;
    /** The tasks' commits: the new id by the old one. */
    readonly moved?: Readonly<Record<string, string>>;
  };
  /** A process took over a run whose process died. */
  RUN_RECOVERED: { readonly owner: string; readonly epoch: number };
  /** A person or a policy asked the run to stop; it may have ended before that. */
  STOP_REQUESTED: {
    /** `abort`: a pause that aborts calls in flight. */
    readonly stop: 'pause' | 'abort' | 'cancel';
    readonly principal: string;
  };
  /** A person revived a dead letter. */
  RUN_REVIVED: { readonly principal: string };
  /** A person forked this run from a checkpoint of another. */
  RUN_FORKED: { readonly from: string; readonly checkpointId: string; readonly principal: string };
  /** A person imported this run from a thread of another checkpointer. */
  RUN_IMPORTED: {
    readonly principal: string;
    /** The newest one. */
    readonly checkpointId: string;
    readonly checkpoints: number;
    /** SHA-256 (hex) of the position of the thread. */
    readonly sha256: string;
    /** Footprint of the run. */
    readonly footprint: string;
  };
  /** A person wrote values into the state of a run. */
  STATE_UPDATED: {
    readonly principal: string;
    /** The checkpoint that has them. */
    readonly checkpointId: string;
    /** Their names. */
    readonly channels: readonly string[];
    /** The node in whose name; `null` where LangGraph was to find it. */
    readonly node: string | null;
  };
  /** A transient error is about to be retried. */
  RETRIED: { readonly node: string; readonly attempt: number; readonly message: string } & OfVisit;
  /** A guard reached 80 % of its limit. */
  GUARD_WARNED: GuardEvidence;
  /** A guard reached its limit. */
  GUARD_TRIPPED: GuardEvidence;
  /** A guard reached its limit after another one had suspended the run. */
  GUARD_SUPPRESSED: GuardEvidence;
  /** The run executes only to this goal. */
  GOAL_SET: { readonly goal: string };
  /** The run stopped at its goal; it continues when it is resumed. */
  GOAL_REACHED: { readonly goal: string; readonly reason: string };
  /** The run waits for people, time, signals or child runs. */
  RUN_SUSPENDED: {
    readonly gates: number;
    /** When the first of its timers is due: ISO 8601, UTC. */
    readonly until?: string;
    /** Names of the signals it waits for. */
    readonly waitsFor?: readonly string[];
    /** Ids of the child runs it waits for. */
    readonly children?: readonly string[];
  };
  /** A timer of a run was due. */
  TIMER_FIRED: { readonly purpose: string; readonly dueAt: string };
  /** A signal was recorded; it is stored until a node receives it. */
  SIGNAL_RECEIVED: { readonly name: string; readonly signalId: string; readonly principal: string };
  /** A waiting node received a signal. */
  SIGNAL_TAKEN: { readonly name: string; readonly signalId: string };
  /** A run and all its files were deleted; the event belongs to no run. */
  RUN_REMOVED: { readonly id: string; readonly principal: string };
  /** The run ended. */
  RUN_FINISHED: {
    readonly outcome: string;
    /** Key of the turn that ended; absent for a run that was started without one. */
    readonly turn?: string;
    /** The webhook that its caller named. */
    readonly webhook?: string;
  };
  /** A person accepted a changed graph for the run. */
  GRAPH_ACCEPTED: { readonly principal: string; readonly changes: string; readonly fingerprint: string };
  /** The run continued on a changed graph. */
  GRAPH_TAKEN: { readonly changes: string; readonly fingerprint: string };
  /** Another process took over the run; this one stopped. */
  LEASE_LOST: { readonly epoch: number };
  /** A call reported impossible usage; the reserved amount counts instead. */
  USAGE_REFUSED: { readonly node: string; readonly step: string; readonly reason: string };
  /** A node called a model or a tool outside of a step. A crash or a retry makes the call again. Once per run, node and name. */
  CALL_NOT_RECORDED: { readonly node: string; readonly what: 'model' | 'tool'; readonly name: string };
  /** Secrets were removed from a text before it entered the pipeline's state. */
  SECRET_REDACTED: { readonly place: string; readonly count: number };
}

export type EventName = keyof OrchestratorEvents;

/** Which run and task an event is about. */
export interface EventScope {
  readonly threadId?: string;
  readonly taskId?: string | null;
}

type Listener<Name extends EventName> = (payload: OrchestratorEvents[Name], scope: EventScope) => void;
type AnyListener = (name: EventName, payload: OrchestratorEvents[EventName], scope: EventScope) => void;
type Listeners = { [Name in EventName]?: Set<Listener<Name>> };

/** The part of the bus that engine code uses. */
export interface EventSink {
  emit<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name], scope?: EventScope): void;
}

/**
 * A synchronous, typed event bus of this process. Errors of a listener do not reach the emitter. It also carries
 * activity of steps, which is not logged: see {@link onActivity}.
 */
export class EventBus implements EventSink {
  readonly #listeners: Listeners = {};
  readonly #anyListeners = new Set<AnyListener>();
  readonly #activityListeners = new Set<ActivityListener>();
  readonly #onListenerError: (error: unknown, name: EventName | 'activity') => void;

  constructor(onListenerError: (error: unknown, name: EventName | 'activity') => void = warnAboutListener) {
    this.#onListenerError = onListenerError;
  }

  /** Subscribes to one event; call the returned function to unsubscribe. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const set: Set<Listener<Name>> = this.#listeners[name] ?? new Set();
    this.#listeners[name] = set as NonNullable<Listeners[Name]>;
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Subscribes to every event; call the returned function to unsubscribe. */
  onAny(listener: AnyListener): () => void {
    this.#anyListeners.add(listener);
    return () => this.#anyListeners.delete(listener);
  }

  /** Subscribes to activity of agents, checks and setup; call the returned function to unsubscribe. */
  onActivity(listener: ActivityListener): () => void {
    this.#activityListeners.add(listener);
    return () => this.#activityListeners.delete(listener);
  }

  /** @param activity - Masked, because listeners show it. @param at - Milliseconds since the Unix epoch, UTC. */
  tell(activity: Activity, scope: ActivityScope, at: number): void {
    for (const listener of [...this.#activityListeners])
      this.#call('activity', () => listener(activity, scope, at));
  }

  emit<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name], scope: EventScope = {}): void {
    const listeners: Iterable<Listener<Name>> = this.#listeners[name] ?? [];
    for (const listener of [...listeners]) this.#call(name, () => listener(payload, scope));
    for (const listener of [...this.#anyListeners]) this.#call(name, () => listener(name, payload, scope));
  }

  #call(name: EventName | 'activity', deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.#onListenerError(error, name);
    }
  }
}

function warnAboutListener(error: unknown, name: EventName | 'activity'): void {
  process.emitWarning(`A listener for ${name} failed: ${String(error)}`, 'DevsListenerWarning');
}

/** The process-wide bus. Pass another one where isolation matters: tests, two engines in one process. */
export const orchestratorEvents: EventBus = new EventBus();

type NewEventOf<Name extends EventName> = {
  readonly name: Name;
  readonly payload: OrchestratorEvents[Name];
  readonly scope: EventScope;
  /** What it is a firing of: it is told once for each, over kills and repeated executions. @defaultValue it is told */
  readonly once?: string;
};

/** An event that is told when, and only if, what it is about is on record. */
export type NewEvent = { [Name in EventName]: NewEventOf<Name> }[EventName];

/** What `raise` raises, to be told later. */
export function newEventsOf(raise: (emit: EventSink['emit']) => void): readonly NewEvent[] {
  const facts: NewEvent[] = [];
  raise((name, payload, scope = {}) => facts.push({ name, payload, scope } as NewEvent));
  return facts;
}

/** Tells a fact. */
export function emitEvent({ name, payload, scope }: NewEvent, emit: EventSink['emit']): void {
  emit(name, payload, scope);
}

/** Events about a gate that somebody outside may have to act on. They are read with a cursor; see `DurableApp.gateEvents`. */
export const GATE_EVENTS = [
  'HITL_SESSION_OPENED',
  'HITL_SESSION_DECIDED',
  'GATE_VOTED',
  'HITL_ANSWER_VOIDED',
  'HITL_ANSWER_REFUSED',
  'GATE_REMINDED',
  'GATE_REASSIGNED',
  'FAILURE_GATE_OPENED',
] as const satisfies readonly EventName[];

export type GateEventName = (typeof GATE_EVENTS)[number];

/** Events with a position among those of every run: about gates, and ends of runs of an app with webhooks. */
export type OutboxEventName = GateEventName | 'RUN_FINISHED';

/** All of them. */
export const OUTBOX_EVENTS: readonly OutboxEventName[] = [...GATE_EVENTS, 'RUN_FINISHED'];

export const isGateEvent = (name: EventName): name is GateEventName =>
  (GATE_EVENTS as readonly EventName[]).includes(name);
