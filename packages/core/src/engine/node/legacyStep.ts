// Steps of subgraphs and tools that version 0.1.0 recorded as steps of their node: their place, or the question to a person.

import { GraphInterrupt } from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StepKey, StepOnRecord, StepTimes } from '../../state/steps/stepRecords.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import { ambientConfig } from '../execution/ambientConfig.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { ENGINE_GATES, isAnswer } from '../gates/engineGates.ts';
import { interruptAsking, type Question, questionAbout } from '../gates/question.ts';
import type { RecordedNode } from './ActiveNode.ts';
import { type InnerTask, placeNames, recordedPlace, type StepPlace } from './stepPlace.ts';

/**
 * Where a step is recorded: in its {@link recordedPlace}, or where an older version recorded it.
 *
 * @throws as {@link legacyKey}.
 */
export function recordedKey(
  active: RecordedNode,
  place: StepPlace,
  name: string,
): StepKey | Promise<StepKey> {
  const { store, visit } = active;
  const isAt = (lgTaskId: string): boolean =>
    store.steps.timesOf({ threadId: visit.threadId, lgTaskId, name }) !== null;
  const found = recordedPlace(active, place, isAt);
  return found instanceof Promise
    ? found.then((at) => legacyKey(active, at, name))
    : legacyKey(active, found, name);
}

/** A step that an older version recorded without the place inside its node. */
interface LegacyStep {
  readonly key: StepKey;
  readonly times: StepTimes;
}

/**
 * Where a step in a subgraph or a tool is recorded, if an older version recorded it. Version 0.1.0 recorded it as one
 * of the node itself; such a row is this step's if it was begun after the checkpoint that the inner task starts from,
 * and nothing beside it may have it. Where that does not decide, a human does: no call is made, and none is taken as
 * made.
 *
 * @throws GraphInterrupt with the question; DevsError `STEP_AMBIGUOUS` where nobody can be asked.
 */
function legacyKey(active: RecordedNode, place: StepPlace, name: string): StepKey | Promise<StepKey> {
  const { store, visit, stepNames } = active;
  const own = { threadId: visit.threadId, lgTaskId: place.id, name };
  if (place.id === visit.lgTaskId || store.steps.timesOf(own) !== null) return own;
  const older = { ...own, lgTaskId: visit.lgTaskId };
  const taken = `${place.id} has ${name} of the node`;
  if (stepNames.has(taken)) return older; // before LangGraph's retry of the inner task
  const times = store.steps.timesOf(older);
  // A name that this execution has used in the node itself is the node's.
  if (times === null || stepNames.has(`${visit.lgTaskId}/${name}`)) return own;
  const row = { key: older, times };
  return whose(active, place, row).then((verdict) => {
    if (verdict === 'unknown') return askStepOwner(active, place, row);
    if (verdict === 'other') return own;
    stepNames.add(`${visit.lgTaskId}/${name}`).add(taken);
    return older;
  });
}

async function whose(
  active: RecordedNode,
  place: StepPlace,
  older: LegacyStep,
): Promise<'its' | 'other' | 'unknown'> {
  const decided = decidedOn(older, place, active.store);
  return decided ?? (await inTask(place.task, older.times)) ?? inTool(active, place);
}

/** Whether a row belongs to the task; `null` where that depends on the tool. */
async function inTask(task: InnerTask | null, times: StepTimes): Promise<'other' | 'unknown' | null> {
  if (task === null || !task.isKept) return null;
  const tuple = await tupleAt(task);
  if (tuple === undefined) return 'unknown';
  const begun = Date.parse(tuple.checkpoint.ts);
  if (times.startedAt < begun) return 'other';
  const isLater = times.startedAt > begun || (times.finishedAt !== null && times.finishedAt > begun);
  return isLater && countDueTasks(tuple) <= 1 ? null : 'unknown';
}

/** Of the calls of one message nobody knows which one a row belongs to. */
function inTool({ toolCalls }: RecordedNode, { toolCallId }: StepPlace): 'its' | 'unknown' {
  if (toolCallId === null) return 'its';
  const called = new Set([...toolCalls, ...callsToAnswer()]);
  return called.size === 1 ? 'its' : 'unknown';
}

async function tupleAt({ checkpoint }: InnerTask): Promise<CheckpointTuple | undefined> {
  const saver: unknown = ambientConfig()?.configurable?.['__pregel_checkpointer'];
  const { threadId, checkpointNs, checkpointId } = checkpoint;
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId };
  return (saver as BaseCheckpointSaver | undefined)?.getTuple({ configurable });
}

/** Tasks that begin at a checkpoint: one for each trigger that holds something, one for each branch. */
function countDueTasks({ checkpoint: { channel_values: values } }: CheckpointTuple): number {
  const triggers = Object.keys(values).filter((channel) => /^(?:branch|join):/.test(channel));
  const sends: unknown = values['__pregel_tasks'];
  return triggers.length + (Array.isArray(sends) ? sends.flat().length : 0);
}

/** Ids of the tool calls that the task around this code was given and that have no answer. */
function callsToAnswer(): readonly string[] {
  const scratchpad: unknown = ambientConfig()?.configurable?.['__pregel_scratchpad'];
  const input = (scratchpad as { readonly currentTaskInput?: unknown } | undefined)?.currentTaskInput;
  const messages = Array.isArray(input) ? input : (input as { readonly messages?: unknown } | null)?.messages;
  if (!Array.isArray(messages)) return [];
  const answered = new Set(messages.map((message: ToolWords) => message.tool_call_id));
  const asked = messages.findLast(({ tool_calls }: ToolWords) => Array.isArray(tool_calls)) as
    | ToolWords
    | undefined;
  return (asked?.tool_calls ?? []).flatMap(({ id }) => (id === undefined || answered.has(id) ? [] : [id]));
}

/** The parts of LangChain's messages that are about tools. */
interface ToolWords {
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id?: string }[];
}

/** Characters of a recorded result that a human is shown; longer ones are cut. */
const MAX_RESULT_SHOWN = 4096;

/**
 * What a human has said about an older step at this place; `null` where nobody was asked. Once it is used at one place,
 * it is that place's and no other's.
 */
function decidedOn({ key }: LegacyStep, place: StepPlace, store: EngineStore): 'its' | 'other' | null {
  const [about, own] = [keyAbout(key), ownerQuestionKey(key, place)];
  const decided = store.sessions
    .listDecided(key.threadId, 'step')
    .filter(({ questionKey: asked }) => asked?.startsWith(about) === true);
  const user = decided.find((session) => actionOf(session) === 'use');
  if (user !== undefined) return user.questionKey === own ? 'its' : 'other';
  return decided.some((session) => session.questionKey === own && actionOf(session) === 'repeat')
    ? 'other'
    : null;
}

/**
 * Leaves the node with the question about the owner of an older step: one at a time, as one answer may decide the next.
 * Like that of a budget it is no `interrupt()`, and its answer is read anew by every execution.
 *
 * @throws GraphInterrupt with the question.
 * @throws DevsError `STEP_AMBIGUOUS` where nobody could answer it, because the graph is not driven.
 */
function askStepOwner(active: RecordedNode, place: StepPlace, older: LegacyStep): never {
  if (active.visit.epoch === null) throw ambiguousStep(older.key, active.visit.node);
  active.question ??= new GraphInterrupt([interruptAsking(whoseQuestion(active, place, older))]);
  throw active.question;
}

function whoseQuestion(active: RecordedNode, place: StepPlace, { key, times }: LegacyStep): Question {
  const { visit, store, taskId } = active;
  const names = placeNames();
  const artifact = {
    node: visit.node,
    step: key.name,
    place: names,
    ...(place.toolCallId !== null && { toolCallId: place.toolCallId }),
    begunAt: new Date(times.startedAt).toISOString(),
    finishedAt: times.finishedAt === null ? null : new Date(times.finishedAt).toISOString(),
    ...shownResult(store.steps.find(key)),
  };
  const tool = place.toolCallId === null ? '' : `, tool call ${place.toolCallId}`;
  return questionAbout(artifact, {
    kind: 'step',
    key: ownerQuestionKey(key, place),
    taskId: taskId ?? visit.threadId,
    message:
      `An older version recorded step "${key.name}" of "${visit.node}" without its place inside the node. ` +
      `Is it the call of ${names.join(' > ')}${tool}?`,
  });
}

/** What the file says of the call; a call without a result was begun, and how it ended is unknown. */
function shownResult(recorded: StepOnRecord | null): object {
  if (recorded?.state !== 'done') return { state: recorded?.state ?? 'intent' };
  if (recorded.result === undefined) return { state: 'done' };
  const text = canonicalJson(recorded.result);
  if (text.length <= MAX_RESULT_SHOWN) return { state: 'done', result: recorded.result };
  const beginning = Buffer.from(text.slice(0, MAX_RESULT_SHOWN)).toString(); // a surrogate may be cut in half
  return { state: 'done', resultBegins: beginning, resultCharacters: text.length };
}

/** The beginning that the keys of all questions about one older step have. */
const keyAbout = ({ lgTaskId, name }: StepKey): string => `step/${hashOf([lgTaskId, name]).slice(0, 32)}/`;

const ownerQuestionKey = (older: StepKey, { id }: StepPlace): string => `${keyAbout(older)}${id}`;

function actionOf({ decision, status }: HitlSession): 'use' | 'repeat' | 'abort' | null {
  const isHeld = status === 'decided' || status === 'resumed';
  return isHeld && isAnswer(ENGINE_GATES.step, decision) ? decision.action : null;
}

function ambiguousStep({ threadId, name }: StepKey, node: string): DevsError {
  return new DevsError(
    `Step "${name}" of "${node}" was recorded by an older version, without its place inside the node.`,
    {
      code: 'STEP_AMBIGUOUS',
      remedy:
        'Resume the run with app.run(), which asks a person, or delete this row of agent_steps to repeat the call.',
      context: { threadId, name, node },
    },
  );
}
