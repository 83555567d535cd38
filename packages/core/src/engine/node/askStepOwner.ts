import { GraphInterrupt } from '@langchain/langgraph';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StepKey, StepOnRecord, StepTimes } from '../../state/steps/StepStore.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import type { EngineStore } from '../EngineStore.ts';
import { isAnswer } from '../gates/answers.ts';
import { ENGINE_GATES } from '../gates/engineGates.ts';
import { interruptAsking, type Question, questionAbout } from '../gates/question.ts';
import type { RecordedNode } from './ActiveNode.ts';
import { placeNames, type StepPlace } from './stepPlace.ts';

/** A step that an older version recorded without the place inside its node. */
export interface LegacyStep {
  readonly key: StepKey;
  readonly times: StepTimes;
}

/** Characters of a recorded result that a human is shown; longer ones are cut. */
const MAX_SHOWN = 4096;

/**
 * What a human has said about an older step at this place; `null` where nobody was asked. Once it is used at one place, it
 * is that place's and no other's.
 */
export function decidedOn({ key }: LegacyStep, place: StepPlace, store: EngineStore): 'its' | 'other' | null {
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
 * Leaves the node with the question whose an older step is: one at a time, for the answer to one may decide the next.
 * Like that of a budget it is no `interrupt()`, and its answer is read anew by every execution.
 *
 * @throws GraphInterrupt with the question.
 * @throws DevsError `STEP_AMBIGUOUS` where nobody could answer it, because the graph is not driven.
 */
export function askStepOwner(active: RecordedNode, place: StepPlace, older: LegacyStep): never {
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
  if (text.length <= MAX_SHOWN) return { state: 'done', result: recorded.result };
  const beginning = Buffer.from(text.slice(0, MAX_SHOWN)).toString(); // a surrogate may be cut in half
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
