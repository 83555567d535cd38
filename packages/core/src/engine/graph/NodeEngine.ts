// How the engine reads a graph: its profile, its goals, and the profile of an author's own graph. `NodeEngine` has the parts around its nodes.

import type { ErrorCode } from '../../errors/DevsError.ts';
import type { EventBus, EventScope, EventSink } from '../../events/events.ts';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import type { NodeStore } from '../../state/RunStore.ts';
import type { InnerBreakpoints } from '../breakpoints/Breakpoint.ts';
import type { AgentAction } from '../entropy/EntropyPart.ts';
import type { EntropyOptions } from '../entropy/scoreEntropy.ts';
import type { EngineFaults } from '../execution/EngineFaults.ts';
import type { NodeUpdate, RaisedSuspension } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { ENGINE_GATES, type GateRules } from '../gates/engineGates.ts';
import type { Question } from '../gates/question.ts';
import type { GuardFinding, GuardLevel } from '../guards/lattice.ts';

export type { NodeUpdate };

/** The effect of an answer to an entry question on the visit that asked it. */
export interface AppliedAnswer<State> {
  readonly update: NodeUpdate<State>;
  /** False when the answer replaces the node's work. */
  readonly runNode: boolean;
}

/** How the runner reads one kind of graph: the pipeline has one profile, own graphs another. Pure. */
export interface GraphProfile<State> {
  /** Nodes that ask their own question or repair: they get no entry question, or a lost answer would be asked there. */
  readonly withoutEntryQuestion: ReadonlySet<string>;
  /** True for a graph that declares the guards' channels itself: its nodes read and write them. @defaultValue false */
  readonly declaresGuards?: boolean;
  /** True for a graph whose nodes never change what they were given or have returned: it is frozen. @defaultValue false */
  readonly isImmutable?: boolean;
  /**
   * Codes of failures of what its nodes work with: neither another attempt nor an error handler mends them, and the run can be
   * driven again from where it stands. So can it where an agent was out of reach (`AGENT_FAILED`) after all attempts.
   * @defaultValue none: what a node throws is its own failure
   */
  readonly surroundings?: ReadonlySet<ErrorCode>;
  /** Every kind of question this graph asks. */
  readonly rules: GateRules;
  /** Nodes that ask a human themselves, whenever they run, with the kind of their question. */
  readonly gates: Readonly<Record<string, HitlSessionKind>>;
  /** The task a visit of `node` works on; `null` where there is none. */
  taskIdOf(state: State, node: string): string | null;
  /** Stands in for the task where a row needs one. */
  projectIdOf(state: State, threadId: string): string;
  /** What a human reads when the run was suspended by the state's pending suspension. */
  suspensionEvidence(state: State, suspension: RaisedSuspension): unknown;
  /** The question of such a suspension in one sentence. */
  suspensionMessage(suspension: RaisedSuspension, state: State): string;
  applyAnswer(
    state: State,
    question: Pick<Question, 'kind' | 'taskId' | 'artifactHash'>,
    answer: unknown,
  ): AppliedAnswer<State>;
  /** What the goal of a run changes in the state `node` is entered with. */
  steer?(state: State, node: string, goal: Goal): AppliedAnswer<State>;
  /** True when `update` completes something: the depth guard then counts anew. */
  isProgress(before: State, update: NodeUpdate<State>): boolean;
  /** Whether LangGraph runs the node again after this error, by the retry policy of the graph. */
  willRetry(error: unknown, attempt: number): boolean;
  /** What an agent did and saw, oldest first, for the entropy score; `null` where nothing is scored. */
  readonly turnsOf: ((state: State, node: string) => readonly AgentAction[]) | null;
  /** Turns that wait for something outside. */
  readonly polling?: EntropyOptions['polling'];
  /** Guards above the failure gate that have tripped and act in the next node. */
  due(state: State): readonly GuardLevel[];
  /** What the guards this profile knows found in what a node changed. */
  findings(before: State, after: State): readonly GuardFinding[];
  /** Raises the events that follow from what a node changed. */
  announce(before: State, after: State, emit: EventSink['emit'], scope: EventScope): void;
}

/** How far a run is driven. Plain JSON; its form belongs to the graph. */
export type Goal = Readonly<Record<string, unknown>>;

/** The end of a run that is complete. */
export interface EndOfRun {
  readonly status: 'completed' | 'failed';
  readonly reason: string | null;
}

/** How a graph that can be driven to a goal reads it. Pure. */
export interface GoalReader {
  /** Nodes after which a goal may be reached: the driver looks there. */
  readonly nodes: readonly string[];
  /** A goal in words. */
  words(goal: Goal): string;
  /** In words, once the goal is reached or never can be; `null` before. */
  reached(values: unknown, goal: Goal): string | null;
}

/** Of a graph that is always driven as far as it goes. */
export const NO_GOALS: GoalReader = { nodes: [], words: () => 'to its end', reached: () => null };

/** The goal in a run's record; `null` where it is driven as far as it goes. */
export function recordedGoal(runs: Pick<NodeStore, 'policyOf'>, threadId: string): Goal | null {
  return (runs.policyOf(threadId, 'goal') as Goal | undefined) ?? null;
}

export interface OwnGraphGuards<State> {
  readonly entropy?: ((state: State) => readonly AgentAction[]) | null;
  readonly polling?: EntropyOptions['polling'];
}

/** How the runner reads a graph it knows nothing about: no tasks, and only `progress()` is progress. */
export function ownGraphProfile<State>({
  entropy = null,
  polling,
}: OwnGraphGuards<State> = {}): GraphProfile<State> {
  return {
    rules: ENGINE_GATES,
    withoutEntryQuestion: new Set(),
    gates: {},
    taskIdOf: () => null,
    projectIdOf: (_state, threadId) => threadId,
    suspensionEvidence: (_state, suspension) => suspensionArtifact(suspension),
    suspensionMessage: stuckMessage,
    turnsOf: entropy,
    ...(polling && { polling }),
    due: () => [],
    applyAnswer: (_state, question, answer) => ({
      update: question.kind === 'recursion_limit' ? {} : ({ pendingSuspension: null } as NodeUpdate<State>),
      runNode: (answer as { action?: string }).action !== 'skip',
    }),
    isProgress: () => false,
    // An author's own retry policy is not read here.
    willRetry: () => false,
    findings: () => [],
    announce: () => {},
  };
}

/** What a human reads when a run of an own graph was suspended. */
export function suspensionArtifact({ sessionId, node, entropy }: RaisedSuspension) {
  return { sessionId, node, ...(entropy && { entropy }) };
}

/** Its question: it has no tasks, its author named the nodes. */
export const stuckMessage = ({ node }: RaisedSuspension): string => `Node "${node}" makes no progress.`;

/** A task of the run's own graph. */
interface BegunTask {
  readonly id: string;
  readonly node: string;
  readonly step: number;
}

/** Everything around a node, given once per compiled graph. */
export interface NodeEngine<State> {
  /** Where a visit is recorded. */
  readonly runs: NodeStore;
  /** The tables, to be read; `null` in plain LangGraph use without a state file. */
  readonly store: EngineStore | null;
  readonly events: EventBus;
  readonly profile: GraphProfile<State>;
  /** Node transitions without progress from which a human is asked. */
  readonly maxDepth: number;
  readonly faults: EngineFaults;
  /** Where the graphs inside its nodes were compiled to stop. @defaultValue nowhere that is known */
  readonly breakpoints?: InnerBreakpoints;
  /** Is told when a task begins. @defaultValue nobody streams */
  readonly streams?: { of(lease: unknown): { taskBegins(task: BegunTask): void } | undefined };
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}
