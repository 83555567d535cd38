/** A row of the Thought/Action journal. */
export interface Turn {
  readonly id: string;
  readonly turnType: 'Thought' | 'Action';
  /** LangGraph's task id: one visit of one node. */
  readonly visit: string;
  readonly node: string;
}

export interface ObservedStep {
  readonly key: string;
  readonly visit: string;
  readonly label: string;
  readonly state: 'intent' | 'failed' | 'done';
  readonly attempt: number;
}

export interface ObservedSession {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly questionKey: string;
  readonly interruptId: string;
}

export interface ObservedEvent {
  readonly name: string;
  readonly payload: unknown;
}

export interface Commit {
  readonly sha: string;
  readonly subject: string;
  /** The same for the same files on the same commits: git's tree, or the id itself where no time is part of it. */
  readonly content: string;
}

/** What a state file holds at one moment. */
export interface FileContent {
  /** `ok`, or what SQLite found. */
  readonly integrity: string;
  /** `ok`, or why the chain of decisions does not hold. */
  readonly decisionLog: string;
  readonly checkpoints: readonly string[];
  /** Oldest first. */
  readonly turns: readonly Turn[];
  readonly steps: readonly ObservedStep[];
  readonly sessions: readonly ObservedSession[];
  /** Session ids, one per recorded decision. */
  readonly decisions: readonly string[];
  readonly events: readonly ObservedEvent[];
  /** Every interrupt LangGraph has written, by id, with the visit that asked. */
  readonly interrupts: ReadonlyMap<string, string>;
  /** Visits whose output is written. */
  readonly outputs: ReadonlySet<string>;
  readonly status: string;
  /** How far the run is to be driven, as its record says; `null`: as far as it goes. */
  readonly goal: unknown;
  /** Of the run, since its last progress. */
  readonly recoveries: number;
}

/** A run as seen from outside, after one life of a driver. */
export interface Observation {
  readonly file: FileContent;
  /** Keys of every call the model server was asked since the run began, in order. */
  readonly calls: readonly string[];
  /** Every event a driver was told of, so far. */
  readonly acknowledged: readonly ObservedEvent[];
  readonly commits: readonly Commit[];
  /** False when the driver had left by itself. */
  readonly killed: boolean;
}

/** Before the first driver. */
export const NOTHING: Observation = {
  file: {
    integrity: 'ok',
    decisionLog: 'ok',
    checkpoints: [],
    turns: [],
    steps: [],
    sessions: [],
    decisions: [],
    events: [],
    interrupts: new Map(),
    outputs: new Set(),
    status: 'created',
    goal: null,
    recoveries: 0,
  },
  calls: [],
  acknowledged: [],
  commits: [],
  killed: false,
};
