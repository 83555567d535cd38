// A question on its way to LangGraph's `interrupt()`, and its answer on the way back.

import { isBaseMessage } from '@langchain/core/messages';
import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import { hashOf, sha256Hex } from '../../values/canonicalJson.ts';
import { isRecord } from '../../values/isRecord.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import { breakpointMessage, isInnerBreakpoint } from '../breakpoints/Breakpoint.ts';
import { withBareConfig } from '../execution/ambientConfig.ts';
import { lawHere } from '../execution/lawOf.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { isDocument } from '../saver/langChainCopies.ts';
import type { CommentTally } from './answerForms.ts';
import type { AnswerPolicy } from './DeclaredGate.ts';
import { type GateRules, isKindOf } from './engineGates.ts';
import { middlewareQuestion } from './middlewareQuestion.ts';

/**
 * What a node asks a human: the value it hands to LangGraph's `interrupt()`. Plain JSON.
 *
 * `key` names the question independently of its position in the node and of its interrupt id, so that an
 * answer can never be taken by another question.
 */
export interface Question {
  readonly kind: HitlSessionKind;
  readonly key: string;
  /** The task it is about; the project or thread where there is none. */
  readonly taskId: string;
  /** SHA-256 (hex) of what is shown: an answer binds to it. */
  readonly artifactHash: string;
  readonly message: string;
  /** What the human is asked to read. */
  readonly artifact: unknown;
  /** Places that a run of an earlier release has masked in it, where there are any: nobody can be shown them. */
  readonly masked?: number;
  /** JSON Schema of the values that the author of a bare `interrupt()` or of a declared gate takes. */
  readonly responseSchema?: unknown;
  /** Set where nothing in the graph handles a no: rejecting then ends the run. */
  readonly endsOnRejection?: true;
  /** What it takes besides one yes or no. */
  readonly takes?: AnswerPolicy;
  /** Of a gate before a tool call: the digest of its name and arguments. */
  readonly call?: string;
}

/** Builds a question; the hash is taken over what is recorded, so that is what is bound. */
export function questionAbout(artifact: unknown, about: Omit<Question, keyof ShownArtifact>): Question {
  return { ...about, ...shownBy(artifact) };
}

export type ShownArtifact = Pick<Question, 'artifact' | 'artifactHash' | 'masked'>;

/**
 * What a gate shows, and its hash.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` for what nobody could read.
 */
export function shownBy(value: unknown): ShownArtifact {
  const { value: artifact, count: masked } = lawHere().keep(storableValue(value ?? null));
  return { artifact, artifactHash: hashOf(artifact), ...(masked > 0 && { masked }) };
}

/** An answer on its way into a node. */
interface KeyedAnswer {
  readonly for: string;
  /** SHA-256 (hex) of what was shown to whoever gave it; missing where an earlier release stored it. */
  readonly hash?: string;
  readonly value: unknown;
}

/** A decision as the driver gives it: its session tells a stored one from an equal one. */
export interface DeliveredAnswer extends KeyedAnswer {
  readonly sessionId: string;
}

/** The value of an answer meant for `key`; `null` for anything else. */
export function answerFor(key: string, answer: unknown): { readonly value: unknown } | null {
  if (!isRecord(answer) || answer['for'] !== key || !('value' in answer)) return null;
  return { value: answer['value'] };
}

/** Whether an answer is meant for this question, and was given for what it shows. */
function isAnswerTo({ key, artifactHash }: Question, answer: unknown): answer is KeyedAnswer {
  return answerFor(key, answer) !== null && ((answer as KeyedAnswer).hash ?? artifactHash) === artifactHash;
}

interface QuestionOptions {
  /** Whether the answer of this session was withdrawn: what it was given for had changed. @defaultValue none was */
  readonly isVoid?: (sessionId: string) => boolean;
}

/**
 * Asks a human and returns the answer meant for this question, and given for what it shows; suspends the run until there
 * is one.
 *
 * An answer for another question, for something else than what is shown now, or one `parse` refuses, leaves the question
 * open: it is asked again under a new interrupt. Throwing instead would store the bad answer and replay it on every
 * resume.
 *
 * @param parse - Returns the answer, or `null` when it is not one. Must not read the clock or the database:
 *   the node's body runs again on every resume.
 */
export function askQuestion<Answer>(
  question: Question,
  parse: (value: unknown) => Answer | null,
  { isVoid = () => false }: QuestionOptions = {},
): Answer {
  for (;;) {
    const given = interrupt<Question, unknown>(asEngineQuestion(question));
    if (!isAnswerTo(question, given) || isVoid((given as Partial<DeliveredAnswer>).sessionId ?? '')) continue;
    const answer = parse(given.value);
    if (answer !== null) return answer;
  }
}

// By identity: what a value looks like proves nothing about who asks.
const askedQuestions = new WeakSet<Question>();

/** Makes a question one of the engine's, on its way to LangGraph. */
function asEngineQuestion(question: Question): Question {
  askedQuestions.add(question);
  return question;
}

/**
 * A question of the engine that is no call of `interrupt()`. Those who leave with it side by side leave with the same one,
 * and so does their node when it runs again.
 */
export function interruptAsking(value: Question): { readonly id: string; readonly value: Question } {
  return { id: askedId(value.key), value: asEngineQuestion(value) };
}

/** The interrupt id of such a question. */
export const askedId = (key: string): string => sha256Hex(key).slice(0, 32);

/** Whether the engine asks this, and not a node that passes `interrupt()` something of the same form. */
export function isEngineQuestion(value: unknown): value is Question {
  return isRecord(value) && askedQuestions.has(value as unknown as Question);
}

/** Whether a value has the form of an engine's question: for values whose session says that they are one. */
export function isQuestion(value: unknown, rules: GateRules): value is Question {
  if (!isRecord(value) || value['kind'] === 'interrupt' || !isKindOf(rules, value['kind'])) return false;
  return typeof value['key'] === 'string' && typeof value['artifactHash'] === 'string';
}

/** A bare `interrupt()`, as LangGraph keeps it. */
interface PendingInterrupt {
  readonly id: string;
  readonly value: unknown;
  readonly responseSchema: unknown;
}

/** A bare `interrupt()` is a gate of its node: what it shows is what it passed, what it returns is what is decided. */
export function bareQuestion({ id, value, responseSchema }: PendingInterrupt, taskId: string): Question {
  return {
    kind: 'interrupt',
    key: bareKey(id),
    taskId,
    ...shownBy(value),
    message: isInnerBreakpoint(id, value) ? breakpointMessage(value) : interruptMessage(value),
    ...(responseSchema !== undefined && { responseSchema }),
  };
}

function interruptMessage(value: unknown): string {
  const asked = middlewareQuestion(value);
  if (asked === null) return 'The graph asks for a value and continues with your answer.';
  return `The agent asks to call ${[...new Set(asked.map(({ name }) => name))].join(', ')}.`;
}

/** The key of a bare `interrupt()`, by LangGraph's id of it. */
export const bareKey = (id: string): string => `interrupt/${id}`;

export function sessionForQuestion(
  question: Question,
  interruptId: string,
  visit: Pick<NodeExecution, 'threadId' | 'checkpointId'> & Partial<Pick<NodeExecution, 'lgTaskId'>>,
  comments: CommentTally | null = null,
) {
  const { kind, key, taskId, artifactHash, artifact, masked, message, responseSchema, takes, call } =
    question;
  return {
    threadId: visit.threadId,
    interruptId,
    questionKey: key,
    kind,
    taskId,
    artifactHash,
    question: {
      message,
      artifact,
      ...(masked !== undefined && { masked }),
      ...(comments !== null && { comments }),
      ...(responseSchema !== undefined && { responseSchema }),
      ...(takes !== undefined && { takes }),
      ...(call !== undefined && { call }),
    },
    evidence: null,
    checkpointId: visit.checkpointId,
    ...(visit.lgTaskId !== undefined && { visitId: visit.lgTaskId }),
  };
}

/**
 * LangGraph's ids of the first interrupts of a task of the root graph. It offers no function for it, so its `interrupt()`
 * is asked, in the place of a task that was given as many answers before.
 */
export function interruptIds(node: string, taskId: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, answered) => interruptId(`${node}:${taskId}`, answered));
}

/** By namespace and number of answers: a question is looked for again with its answer, and LangGraph takes long to say its id. */
const knownIds = new RecentMap<string, string>(256);

/** Of the interrupt that a task asks after `answered` others. @param namespace - `checkpoint_ns` of the task */
export function interruptId(namespace: string, answered: number): string {
  const place = `${answered} ${namespace}`;
  const id = knownIds.get(place) ?? askedInterruptId(namespace, answered);
  knownIds.set(place, id);
  return id;
}

function askedInterruptId(namespace: string, answered: number): string {
  const scratchpad = { interruptCounter: answered - 1, resume: Array.from({ length: answered }) };
  const configurable = {
    __pregel_checkpointer: true,
    __pregel_scratchpad: scratchpad,
    checkpoint_ns: namespace,
  };
  try {
    withBareConfig({ configurable }, () => interrupt(null));
  } catch (error) {
    if (isGraphInterrupt(error)) return error.interrupts[0]?.id ?? '';
    throw error;
  }
  return '';
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Answers by interrupt id. */
export type AnswersById = Readonly<Record<string, unknown>>;

/** By the answers that LangGraph is given: the hash of the question of an author's interrupt, by its id. */
const subjects = new WeakMap<AnswersById, ReadonlyMap<string, string>>();

/**
 * Answers that reach the interrupts they are for, and no others. LangGraph looks for an interrupt's id and, where that is
 * not found, for the id of its task's first one: an answer that a node has taken before it failed, given again, would be
 * taken by the node's next `interrupt()`, whatever that asks. The second look finds nothing here.
 *
 * @param shown - Their {@link subjectsOf}.
 */
export function exactAnswers(answers: AnswersById, shown: ReadonlyMap<string, string>): AnswersById {
  let isSecondLook = false;
  const exact = new Proxy(answers, {
    has(target, id) {
      if (typeof id !== 'string' || !INTERRUPT_ID.test(id)) return Reflect.has(target, id);
      const isFound = !isSecondLook && Object.hasOwn(target, id);
      isSecondLook = !isSecondLook && !isFound;
      return isFound;
    },
  });
  subjects.set(exact, shown);
  return exact;
}

/** The hash of the question of each of these answers that is for an author's interrupt, by its id. */
export const subjectsOf = (answers: AnswersById): ReadonlyMap<string, string> =>
  subjects.get(answers) ?? new Map();

/**
 * The question a node asks for child runs; plain JSON, in the parent's checkpoint.
 *
 * `key` is the child's thread id: root thread, LangGraph's id of the asking task, position of the question in
 * it. All three are the same when the node runs again, so no table is needed to find the child.
 */
export interface FrameQuestion {
  readonly recurse: true;
  readonly key: string;
  /** `null` for one child under `key` itself, else that many under `key.0`, `key.1`, … */
  readonly count: number | null;
}

export function isFrameQuestion(value: unknown): value is FrameQuestion {
  return isRecord(value) && value['recurse'] === true && typeof value['key'] === 'string';
}

/** Levels that are looked at: what is deeper, as a cycle is, is left for the hash to refuse. */
const MAX_DEPTH = 1_000;

/**
 * A value as a gate shows and hashes it: plain JSON of what LangGraph's serializer takes. What JSON has no word for is
 * said in one, `{ date: '1970-01-01T00:00:00.000Z' }`; what nobody could read, such as a function, is left for the hash
 * to refuse.
 */
export function storableValue(value: unknown, levels = MAX_DEPTH): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  const inside = levels - 1;
  if (Array.isArray(value)) return sameOr(value, storableItems(value, inside));
  if (isPlainJsonObject(value)) return storableFields(value, inside);
  return storableInstance(value, inside);
}

const storableItems = (items: readonly unknown[], levels: number): readonly unknown[] =>
  items.map((item) => storableValue(item, levels));

function storableInstance(value: object, levels: number): unknown {
  if (value instanceof Date) return { date: Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString() };
  if (value instanceof Map) return { map: storableItems([...value], levels) };
  if (value instanceof Set) return { set: storableItems([...value], levels) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (isBaseMessage(value)) return { [value.type]: storableFields({ ...value.toDict().data }, levels) };
  if (isDocument(value)) return { document: storableFields({ ...value }, levels) };
  return value;
}

function storableFields(fields: object, levels: number): object {
  const entries = Object.entries(fields) as [string, unknown][];
  const shown = entries.map(([name, field]) => [name, storableValue(field, levels)] as const);
  return shown.every(([, field], at) => field === entries[at]?.[1]) ? fields : Object.fromEntries(shown);
}

/** The very list where nothing in it has to be said in other words: what the hash refuses in it stays refused. */
const sameOr = (items: readonly unknown[], shown: readonly unknown[]): readonly unknown[] =>
  shown.every((item, at) => item === items[at]) ? items : shown;

function isPlainJsonObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
