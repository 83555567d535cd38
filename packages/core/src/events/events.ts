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

/** Every event the engine emits, with its payload. Payloads hold ids, numbers and masked text, never states. */
export interface OrchestratorEvents {
  /** Depth reached the warning share of the limit; the run goes on. */
  RECURSION_DEPTH_WARNING: { readonly depth: number; readonly limit: number };
  /** Depth reached the limit; the run is suspended. */
  RECURSION_LIMIT_REACHED: { readonly depth: number; readonly limit: number };
  /** A question to a human is on disk and can be read; it can be decided once it is bound to its interrupt. */
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
    readonly raised?: Readonly<Partial<Record<'usd' | 'tokens' | 'calls' | 'ms', number>>>;
    /** Of a review: the tasks that are done again, such as `T2`. */
    readonly tasks?: readonly string[];
    /** On how many places a rejection comments. */
    readonly comments?: number;
  };
  /** One of several who have to has said yes; the last of them is followed by the decision. */
  GATE_VOTED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Yeses so far, and how many it takes. */
    readonly votes: number;
    readonly needed: number;
    readonly hidden?: HiddenRecord;
  };
  /** Nobody has decided a gate in time: it is told of again. */
  GATE_REMINDED: {
    readonly sessionId: string;
    readonly kind: string;
    /** Milliseconds from when it was opened. */
    readonly within: number;
  };
  /** Nobody has decided a gate in time: others are to. */
  GATE_REASSIGNED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly within: number;
    readonly to: readonly string[];
  };
  /** What a gate shows is not what its answer was given for: the answer counts no more, and the gate asks again. */
  HITL_ANSWER_VOIDED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Of what the answer was given for. */
    readonly artifactHash: string;
    /** Hash of what the gate shows now. */
    readonly shows: string;
  };
  /** A gate does not take what was answered, which only its own program can tell: it asks again. */
  HITL_ANSWER_REFUSED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
  };
  /** What the run was told from outside does not fit any more, such as a decision on a gate that was asked anew. */
  SIGNAL_PASSED_OVER: {
    readonly id: string;
    /** `decision`, `message`, `pause` or `cancel`. */
    readonly kind: string;
    readonly why: string;
  };
  /** A person was shown a gate, by a client that says so. */
  GATE_SHOWN: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    readonly artifactHash: string;
  };
  /** A person was shown what a gate hides in every view. */
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
  /** A person asked about an open gate and was answered; nothing was decided. */
  GATE_ASKED: {
    readonly sessionId: string;
    readonly kind: string;
    readonly principal: string;
    /** Masked, one line, cut at 200 characters. */
    readonly question: string;
  };
  /** An agent asked for a permission while it worked, and the policy answered; no gate. At most 100 of one step. */
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
  /** A journal row could not be written; forward execution goes on without it. */
  CHECKPOINT_SAVE_FAILED: { readonly nodeName: string; readonly message: string };
  /** The run has lost journal rows; it goes on, marked. */
  RUN_DEGRADED: { readonly reason: string };
  /** A node passed its entry questions and begins to work. */
  NODE_STARTED: { readonly node: string; readonly attempt: number };
  /** A node's output is about to be committed. */
  NODE_FINISHED: { readonly node: string; readonly durationMs: number };
  /** A durable step's result is recorded. */
  STEP_FINISHED: { readonly node: string; readonly step: string; readonly attempt: number };
  /** What a step tells while it runs could not be kept any further; the step goes on. */
  TRANSCRIPT_LOST: { readonly node: string; readonly step: string; readonly message: string };
  /** A node threw, after its retries. */
  NODE_FAILED: { readonly node: string; readonly message: string };
  /** A task's checks passed and its work is committed. */
  TASK_COMPLETED: { readonly taskId: string; readonly name: string; readonly gitHash: string };
  /** An attempt at a task failed and it is tried again; `final`: it was given up. */
  TASK_FAILED: { readonly taskId: string; readonly name: string; readonly final: boolean };
  /** A human gave a task up; the run goes on without it. */
  TASK_SKIPPED: { readonly taskId: string; readonly name: string };
  /** A human sent the code of a completed task back; it is done again. */
  TASK_REOPENED: { readonly taskId: string; readonly name: string };
  /** A task cannot run because one it depends on was given up or skipped. */
  TASK_BLOCKED: { readonly taskId: string; readonly name: string };
  /** A new strategy was chosen for a task. */
  PIVOTED: { readonly taskId: string; readonly strategy: string };
  /** The run was set back to the end of a task. */
  REWOUND: {
    readonly targetTaskId: string;
    /** How many tasks are pending again. */
    readonly undone: number;
    /** Their ids. */
    readonly tasks: readonly string[];
    readonly principal: string;
    readonly reason?: string;
  };
  /** A run stands again where it stood before it was set back. */
  REWIND_UNDONE: { readonly targetTaskId: string; readonly principal: string; readonly reason?: string };
  /** A run goes on with other agents, or other prompts, than it was started with. */
  AGENTS_CHANGED: { readonly started: string; readonly now: string };
  /** A person let the commands of one drive do what the user can, though the run has a sandbox. */
  SANDBOX_WAIVED: { readonly principal: string };
  /** Files in the run's folder that the engine did not leave there were kept as a commit, then replaced. */
  WORKSPACE_RESCUED: { readonly ref: string; readonly commit: string; readonly files: number };
  /** A human's changes in the run's folder were committed in their name; the run goes on from there. */
  CHANGES_ADOPTED: { readonly principal: string; readonly commit: string; readonly files: number };
  /** The run's commits were put on top of those the user had made meanwhile. */
  RUN_SYNCED: {
    readonly principal: string;
    readonly base: string;
    readonly commits: number;
    /** The tasks' commits: the new id by the old one. */
    readonly moved?: Readonly<Record<string, string>>;
  };
  /** A driver took up a run that another one left. */
  RUN_RECOVERED: { readonly owner: string; readonly epoch: number };
  /** A person brought a run back that had been given up as a dead letter. */
  RUN_REVIVED: { readonly principal: string };
  /** A person began this run at a checkpoint of another. */
  RUN_FORKED: { readonly from: string; readonly checkpointId: string; readonly principal: string };
  /** A person wrote values into the state of a run, between two visits. */
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
  RETRIED: { readonly node: string; readonly attempt: number; readonly message: string };
  /** A guard reached its warning share. */
  GUARD_WARNED: GuardEvidence;
  /** A guard reached its limit. */
  GUARD_TRIPPED: GuardEvidence;
  /** A guard reached its limit while another one had already suspended the run. */
  GUARD_SUPPRESSED: GuardEvidence;
  /** From now on the run is driven only so far. */
  GOAL_SET: { readonly goal: string };
  /** The run stopped where it was to be driven; the next drive goes on. */
  GOAL_REACHED: { readonly goal: string; readonly reason: string };
  /** The run waits: for humans, or for what is none. */
  RUN_SUSPENDED: {
    readonly gates: number;
    /** When the first of its timers is due: ISO 8601, UTC. */
    readonly until?: string;
    /** Names of the signals it waits for. */
    readonly waitsFor?: readonly string[];
    /** Ids of the child runs it waits for. */
    readonly children?: readonly string[];
  };
  /** A timer of a run was due; it goes on. */
  TIMER_FIRED: { readonly purpose: string; readonly dueAt: string };
  /** Somebody told the run something; kept until a node takes it. */
  SIGNAL_RECEIVED: { readonly name: string; readonly signalId: string; readonly principal: string };
  /** A node that waited for a signal has it. */
  SIGNAL_TAKEN: { readonly name: string; readonly signalId: string };
  /** A run and all its files were deleted; of no run, as it is in no log any more. */
  RUN_REMOVED: { readonly id: string; readonly principal: string };
  /** The run reached an end. */
  RUN_FINISHED: { readonly outcome: string };
  /** A human declared what became of the names of a changed graph; the run goes on with the graph as it is now. */
  GRAPH_ACCEPTED: { readonly principal: string; readonly changes: string; readonly fingerprint: string };
  /** Another driver took the run over; this one stopped. */
  LEASE_LOST: { readonly epoch: number };
  /** A call said that it used what no call can; what was held back for it counts instead. */
  USAGE_REFUSED: { readonly node: string; readonly step: string; readonly reason: string };
  /** Secrets were taken out of a text before it entered the pipeline's state. */
  SECRET_REDACTED: { readonly place: string; readonly count: number };
}

export type EventName = keyof OrchestratorEvents;

/** Which run and task an event is about. */
export interface EventScope {
  readonly threadId?: string;
  readonly taskId?: string | null;
}
