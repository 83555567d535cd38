import type { RunnableConfig } from '@langchain/core/runnables';
import { type BaseCheckpointSaver, uuid5 } from '@langchain/langgraph-checkpoint';
import { ambientConfig } from '../execution/ambientConfig.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { ActiveNode, RecordedNode } from './ActiveNode.ts';
import {
  type InnerLevel,
  type InnerRuns,
  innerGraphNs,
  isRunAnew,
  namesOn,
  relativePlace,
} from './innerRuns.ts';
import { currentNode } from './nodeContext.ts';
import { attemptOf, currentToolCall } from './toolCalls.ts';

/** A checkpoint that a task starts from. */
export interface CheckpointAt {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly checkpointId: string;
}

/** The engine's; a graph inside may have another one. */
interface WritingSaver {
  writing?(checkpointId: string): Promise<unknown> | null;
}

export const isInFile = (
  { checkpointId, threadId }: Pick<CheckpointAt, 'threadId' | 'checkpointId'>,
  { checkpoints }: Pick<EngineStore, 'checkpoints'>,
): boolean => checkpoints.findSeq(checkpointId, threadId) !== null;

/** Resolves once the checkpoint is in the file. LangGraph begins the tasks of an input earlier, and names them after it. */
export async function untilWritten(
  at: Pick<CheckpointAt, 'threadId' | 'checkpointId'>,
  { configurable }: RunnableConfig,
  store: Pick<EngineStore, 'checkpoints'>,
): Promise<void> {
  const saver = configurable?.['__pregel_checkpointer'] as WritingSaver | undefined;
  const { checkpointId } = at;
  if (isInFile(at, store)) return;
  if (saver?.writing?.(checkpointId) == null) await yieldToEventLoop(); // LangGraph asks for it a few ticks later
  await saver?.writing?.(checkpointId);
}

/** Where in a visit a step is: a name is used once in each place. */
export interface StepPlace {
  /** The visit's id; in a subgraph or a tool, what tells the place inside from others behind slashes. */
  readonly id: string;
  /** The task of a graph inside the node; `null` in the node itself. */
  readonly task: InnerTask | null;
  readonly toolCallId: string | null;
  /** From 1: LangGraph's retries of the innermost task. */
  readonly attempt: number;
  /** In a retry by LangGraph, of that task, of one around it or of the node. */
  readonly isRetry: boolean;
  /** The way there, where a task on it was retried and this is not what the first attempt had there; else `null`. */
  readonly anew: readonly InnerLevel[] | null;
  /** Another id, the same in every attempt at the tasks on the way; `null` where there is none. */
  readonly relativeId: string | null;
}

/** A retry of an inner task uses the names of its place again; one of the node begins with none. */
export const claimOf = ({ id, task, attempt }: StepPlace, name: string): string =>
  task === null ? `${id}/${name}` : `${id}#${attempt}/${name}`;

/** A task of a graph that a node runs, as LangGraph tells it. */
export interface InnerTask {
  /** Where its checkpoint is. */
  readonly checkpoint: CheckpointAt;
  /** Whether the checkpoint is in the state file: the task has the same id when the node runs again. */
  readonly isKept: boolean;
}

/**
 * The innermost task of LangGraph around this code, and the tool call. It is the same place when the node runs again:
 * a graph that keeps no checkpoints here has other ids each time, and its places are told by their names and steps.
 */
export function stepPlace(active: ActiveNode): StepPlace {
  const { visit } = active;
  const taskId: unknown = ambientConfig()?.configurable?.['__pregel_task_id'];
  if (typeof taskId === 'string' && taskId !== visit.lgTaskId) return innerPlace(active, taskId);
  const { attempt } = visit;
  const { id: toolCallId } = currentToolCall();
  const id = placeId(visit, null, toolCallId);
  return { id, task: null, toolCallId, attempt, isRetry: attempt > 1, anew: null, relativeId: null };
}

function innerPlace(active: ActiveNode, taskId: string): StepPlace {
  const { visit, inner } = active;
  const config = ambientConfig() ?? {};
  const { configurable = {} } = config;
  const { id: toolCallId, attempt: retried } = currentToolCall();
  const attempt = attemptOf(config) ?? retried;
  const checkpoint = checkpointOf(configurable);
  const isKept = keepsCheckpoint(active, checkpoint);
  const way = inner.wayTo(String(configurable['checkpoint_ns'] ?? ''), config);
  const names = way === null ? nodeNamesIn(configurable) : [...namesAround(inner), ...namesOn(way)];
  const told = checkpoint.threadId === visit.frame ? config.metadata : undefined;
  const { anew, relative } = isKept ? againOn(way) : NEVER_AGAIN;
  return {
    id: placeId(visit, isKept ? taskId : whichOf(names, told), toolCallId),
    task: { checkpoint, isKept },
    toolCallId,
    attempt,
    isRetry: Math.max(attempt, visit.attempt) > 1 || anew !== null,
    anew,
    relativeId: relative && placeId(visit, relative, toolCallId),
  };
}

const keepsCheckpoint = ({ visit, store, inner }: ActiveNode, checkpoint: CheckpointAt): boolean =>
  store === null ||
  checkpoint.checkpointId === visit.checkpointId ||
  inner.keeps(checkpoint.checkpointNs) ||
  isInFile(checkpoint, store);

/** How a place is found again by an attempt that comes to it on another way. */
interface Again {
  readonly anew: readonly InnerLevel[] | null;
  readonly relative: string | null;
}

const NEVER_AGAIN: Again = { anew: null, relative: null };

const againOn = (way: readonly InnerLevel[] | null): Again =>
  way === null ? NEVER_AGAIN : { anew: isRunAnew(way) ? way : null, relative: relativePlace(way) };

const namesAround = ({ taskNs }: InnerRuns): readonly string[] => nodeNamesIn({ checkpoint_ns: taskNs });

/** @param inside - What tells the task inside the visit from others; `null` for the visit's own. */
function placeId(
  { lgTaskId }: Pick<NodeExecution, 'lgTaskId'>,
  inside: string | null,
  toolCallId: string | null,
): string {
  const task = inside === null ? '' : `/${inside}`;
  const tool = toolCallId === null ? '' : `/${encodeURIComponent(toolCallId)}`;
  return `${lgTaskId}${task}${tool}`;
}

/** The checkpoint that the task around this code starts from: its namespace is the task's without the task. */
function checkpointOf(configurable: Readonly<Record<string, unknown>>): CheckpointAt {
  const taskNs = String(configurable['checkpoint_ns'] ?? '');
  const checkpointNs = taskNs.slice(0, Math.max(0, taskNs.lastIndexOf('|')));
  const ids = (configurable['checkpoint_map'] ?? {}) as Readonly<Record<string, unknown>>;
  const checkpointId = String(ids[checkpointNs] ?? '');
  return { threadId: String(configurable['thread_id'] ?? ''), checkpointNs, checkpointId };
}

/** The names of the nodes around this code, outermost first. */
export function placeNames(): readonly string[] {
  return nodeNamesIn(ambientConfig()?.configurable ?? {});
}

function nodeNamesIn(configurable: Readonly<Record<string, unknown>>): readonly string[] {
  const segments = String(configurable['checkpoint_ns'] ?? '').split('|');
  return segments.map((segment) => segment.replace(/:[^:]*$/, ''));
}

/**
 * The names of the tasks on the way, and of the last one its step and which of several branches it is. A graph with a
 * thread of its own may count its steps on from one call to the next; the names alone are left.
 */
function whichOf(around: readonly string[], metadata: Readonly<Record<string, unknown>> | undefined): string {
  const names = around.join('|');
  if (metadata === undefined) return names;
  const path = metadata['langgraph_path'];
  const branch = Array.isArray(path) ? path.filter((part) => typeof part === 'number') : [];
  return [names, metadata['langgraph_step'], ...branch].join('#');
}

/** The place around this code by an id that it has in every attempt; `null` outside of a node, as on an edge. */
export function placeHere(): Pick<StepPlace, 'id' | 'attempt'> | null {
  const active = currentNode();
  if (active === null) return null;
  const { id, relativeId, attempt } = stepPlace(active);
  return { id: relativeId ?? id, attempt };
}

/**
 * Where something in a place is recorded: where LangGraph's first attempt at the tasks around it had or would have it.
 * What the first attempt did not come to is recorded by its relative place, and found there by every attempt.
 *
 * @param isAt - Whether it is recorded in the place of that id.
 */
export function recordedPlace(
  active: RecordedNode,
  place: StepPlace,
  isAt: (id: string) => boolean,
): StepPlace | Promise<StepPlace> {
  const { task, anew } = place;
  if (task?.isKept && !isInFile(task.checkpoint, active.store)) {
    const written = untilWritten(task.checkpoint, ambientConfig() ?? {}, active.store);
    return written.then(() => foundPlace(active, place, isAt));
  }
  return anew === null ? placeAt(place, isAt) : foundPlace(active, place, isAt);
}

async function foundPlace(
  active: RecordedNode,
  place: StepPlace,
  isAt: (id: string) => boolean,
): Promise<StepPlace> {
  const first = place.anew === null ? place : await firstPlace(active, place, place.anew);
  return placeAt(first, isAt);
}

function placeAt(place: StepPlace, isAt: (id: string) => boolean): StepPlace {
  const { id, relativeId } = place;
  const isRelative = relativeId !== null && !isAt(id) && isAt(relativeId);
  return isRelative ? { ...place, id: relativeId } : place;
}

async function firstPlace(
  active: RecordedNode,
  place: StepPlace,
  anew: readonly InnerLevel[],
): Promise<StepPlace> {
  const first = await firstTaskOf(active, anew);
  if (first === null) return { ...place, id: place.relativeId ?? place.id };
  const { taskId, checkpoint } = first;
  const id = placeId(active.visit, taskId, place.toolCallId);
  return { ...place, id, task: { checkpoint, isKept: true } };
}

/** A task that LangGraph's first attempt ran, or would have run, where this one runs another. */
interface FirstTask {
  readonly taskId: string;
  readonly checkpoint: CheckpointAt;
}

/**
 * The task of the first attempt in which the innermost task of `way` was run before: of the graph that was begun as the
 * same one by the same task, in the same super-step and branch. `null` where that attempt did not come so far.
 */
async function firstTaskOf(
  { inner }: Pick<RecordedNode, 'inner'>,
  way: readonly InnerLevel[],
): Promise<FirstTask | null> {
  let callerNs = inner.taskNs;
  let first: FirstTask | null = null;
  for (const level of way) {
    const graphNs = innerGraphNs(callerNs, level.index);
    first = await taskIn(graphNs, level);
    if (first === null) return null;
    callerNs = `${graphNs}|${level.name}:${first.taskId}`;
  }
  return first;
}

async function taskIn(checkpointNs: string, level: InnerLevel): Promise<FirstTask | null> {
  const { threadId, told, taskId, graphNs } = level;
  if (threadId === null || told === null || told.checkpointId === '') return null;
  if (checkpointNs === graphNs) {
    return { taskId, checkpoint: { threadId, checkpointNs, checkpointId: told.checkpointId } };
  }
  // Another version of LangGraph may name its tasks otherwise.
  if (innerTaskId(level, graphNs, told.checkpointId) !== taskId) return null;
  const checkpointId = await latestAt({ threadId, checkpointNs, step: told.step - 1 });
  if (checkpointId === null) return null;
  const checkpoint = { threadId, checkpointNs, checkpointId };
  return { taskId: innerTaskId(level, checkpointNs, checkpointId), checkpoint };
}

interface StepAt {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly step: number;
}

/** A graph whose state was changed from outside has several checkpoints of one step: it went on from the last. */
async function latestAt({ threadId, checkpointNs, step }: StepAt): Promise<string | null> {
  const saver: unknown = ambientConfig()?.configurable?.['__pregel_checkpointer'];
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs };
  const found = (saver as BaseCheckpointSaver | undefined)?.list(
    { configurable },
    { filter: { step }, limit: 1 },
  );
  for await (const { checkpoint } of found ?? []) return checkpoint.id;
  return null;
}

/** The id that LangGraph gives a task of a graph: by what it is there, under the checkpoint it starts from. */
function innerTaskId({ name, told }: InnerLevel, graphNs: string, checkpointId: string): string {
  const { step = 0, path = [], triggers = [] } = told ?? {};
  const [kind, at, call, isCall] = path;
  const pushed = isCall === true ? [at, call] : [String(at)];
  const which = kind === '__pregel_pull' ? [triggers] : pushed;
  return uuid5(JSON.stringify([`${graphNs}|${name}`, String(step), name, kind, ...which]), checkpointId);
}
