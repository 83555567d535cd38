// A gate as clients of LangGraph show an interrupt, and their reply as the answer of the gate. Two shapes are in use:
// `action_requests` with `review_configs` (LangChain's middleware, Agent Chat UI), and `action_request` with `config` (Agent Inbox).
// An interrupt of the graph's own keeps the value that it was given; beside a question of LangChain's middleware stand the names of
// both shapes.

import { DevsError } from '../../errors/DevsError.ts';
import { isRecord } from '../../values/isRecord.ts';
import type { Gate } from './Gate.ts';
import {
  type AskedAction,
  type MiddlewareQuestion,
  middlewareQuestion,
  withClientNames,
} from './middlewareQuestion.ts';

type JsonRecord = Readonly<Record<string, unknown>>;

/** The act of a client at a gate, apart from either shape. */
type ClientAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no'; readonly text: string | undefined }
  | { readonly kind: 'edit'; readonly args: JsonRecord }
  | { readonly kind: 'text'; readonly text: string };

/** How a kind of gate is shown, and which answer each act of a client is. */
interface ClientForm {
  readonly name: string;
  readonly args: JsonRecord;
  readonly takes: readonly ClientAnswer['kind'][];
  /** `null` for an act without an answer at this gate. */
  answer(act: ClientAnswer): JsonRecord | null;
}

/** The name of an artifact that is not an object, among arguments. */
const WHOLE = 'artifact';

/** A rejection needs words. */
const REJECTED = 'Rejected.';
const IGNORED = 'Ignored.';

/** The answers with which guards and the pipeline go on, and the text beside them. */
const ACTIONS: Readonly<Partial<Record<Gate['kind'], { readonly yes: string; readonly text?: string }>>> = {
  task_failure: { yes: 'retry', text: 'guidance' },
  recursion_limit: { yes: 'continue' },
  budget: { yes: 'raise' },
  step: { yes: 'use' },
  baseline: { yes: 'accept' },
};

/**
 * Returns a gate as LangGraph's clients take an interrupt. The `id` names the content that is shown: an answer that is sent
 * under it binds to that. The value of an `interrupt()` stays as it is, with the names of both shapes of the field beside those of
 * LangChain's `humanInTheLoopMiddleware`; other gates have both shapes in one object.
 *
 * @example
 * ```ts
 * const interrupts = (await app.gates('post-42')).map(gateInterrupt);
 * ```
 */
export function gateInterrupt(gate: Gate): { readonly id: string; readonly value: unknown } {
  const id = `${gate.sessionId}.${gate.artifactHash.slice(0, HASH_DIGITS)}`;
  if (!isPlain(gate)) return { id, value: shapesOf(gate, formOf(gate)) };
  const { artifact } = gate;
  const asked = middlewareQuestion(artifact);
  return { id, value: asked === null ? artifact : withClientNames(artifact as object, asked) };
}

/** Digits of the hash in the id of an interrupt. */
const HASH_DIGITS = 16;

/**
 * The open gate that an interrupt was made of.
 *
 * @throws DevsError `GATE_STALE` if the gate shows something else by now; `GATE_NOT_FOUND` if it is not open.
 */
export function gateOfInterrupt<Of extends Gate>(interruptId: string, gates: readonly Of[]): Of {
  const at = interruptId.lastIndexOf('.');
  const [sessionId, hash] = [interruptId.slice(0, at), interruptId.slice(at + 1)];
  const gate = gates.find((each) => each.sessionId === sessionId);
  if (gate !== undefined && hash.length === HASH_DIGITS && gate.artifactHash.startsWith(hash)) return gate;
  const context = { sessionId: at === -1 ? interruptId : sessionId };
  if (gate === undefined)
    throw new DevsError(`No open gate has the interrupt "${interruptId}".`, {
      code: 'GATE_NOT_FOUND',
      remedy: 'Read the open gates of the run again: this one was answered or withdrawn.',
      context,
    });
  throw new DevsError(`Gate "${sessionId}" shows something else than interrupt "${interruptId}".`, {
    code: 'GATE_STALE',
    remedy: 'Show the gate as it is now, and ask again.',
    context,
  });
}

/**
 * Returns the resume value of a LangGraph client as the answer of its gate, for `decide`. It takes `{ decisions: [one] }`, a response
 * of Agent Inbox, also in a list, an answer of `decide`, `true` and `false`. LangChain's `humanInTheLoopMiddleware` gets these as
 * its `decisions`; any other `interrupt()` gets the value as it is. Its author is ignored.
 *
 * @throws DevsError `INVALID_ANSWER` for anything else, such as a chat message.
 *
 * @example
 * ```ts
 * await app.decide(gate, { ...resumeAnswer(gate, resume), by });
 * ```
 */
export function resumeAnswer(gate: Gate, resume: unknown): JsonRecord {
  if (isPlain(gate)) {
    if (resume === undefined) throw noAnswer(gate);
    const asked = middlewareQuestion(gate.artifact);
    return { value: asked === null ? resume : decisionsOf(resume, asked) };
  }
  const act = actOf(resume);
  if (act !== null) return withoutAuthor(formOf(gate).answer(act) ?? refused(gate));
  if (!isRecord(resume) || !OWN.some((name) => Object.hasOwn(resume, name))) throw noAnswer(gate);
  return withoutAuthor(resume);
}

/** The caller knows the author. */
function withoutAuthor({ by: _, via: __, withHidden: ___, ...answer }: JsonRecord): JsonRecord {
  return answer;
}

/** The rejection of a gate; `null` for an interrupt of the graph's own. */
export const gateRefusal = (gate: Gate): JsonRecord | null =>
  isPlain(gate) ? null : formOf(gate).answer({ kind: 'no', text: IGNORED });

/** Names in answers of `decide`. */
const OWN = ['approved', 'value', 'edit', 'action'] as const;

const isBreakpoint = ({ kind, artifact }: Gate): boolean =>
  kind === 'interrupt' && isRecord(artifact) && isRecord(artifact['breakpoint']) && 'values' in artifact;

/** Asked by the graph's own `interrupt()`: any value is an answer, and the graph knows which it wants. */
const isPlain = (gate: Gate): boolean => gate.kind === 'interrupt' && !isBreakpoint(gate);

function formOf(gate: Gate): ClientForm {
  if (isBreakpoint(gate)) return breakpointForm(gate);
  const action = ACTIONS[gate.kind];
  return action === undefined ? approvalForm(gate) : actionForm(gate, action);
}

function breakpointForm({ artifact }: Gate): ClientForm {
  return {
    name: 'breakpoint',
    args: artifact as JsonRecord,
    takes: ['yes', 'no'],
    answer: ({ kind }) => (kind === 'yes' ? { value: true } : kind === 'no' ? { value: false } : null),
  };
}

function approvalForm(gate: Gate): ClientForm {
  const { kind, artifact, takes } = gate;
  const call = toolCallOf(gate);
  const given: readonly (readonly [ClientAnswer['kind'], boolean])[] = [
    ['yes', takes?.value === undefined],
    ['edit', takes?.edit === 'artifact' || call !== null],
    ['text', takes?.value !== undefined],
    ['no', true],
  ];
  const kinds = given.flatMap(([act, isTaken]) => (isTaken ? [act] : []));
  const args = call?.args ?? (isRecord(artifact) ? artifact : { [WHOLE]: artifact });
  return {
    name: call?.name ?? takes?.gate ?? kind,
    args,
    takes: kinds,
    answer: (act) => {
      if (act.kind !== 'edit') return verdictOf(act, gate);
      return kinds.includes('edit') ? verdictOf({ ...act, args: typedLike(act.args, args) }, gate) : null;
    },
  };
}

function verdictOf(act: ClientAnswer, { artifact, takes, responseSchema }: Gate): JsonRecord {
  switch (act.kind) {
    case 'yes':
      return { approved: true };
    case 'no':
      return { approved: false, feedback: act.text ?? REJECTED };
    case 'edit':
      return { edit: isRecord(artifact) ? act.args : act.args[WHOLE] };
    case 'text':
      if (takes?.value === undefined) return { approved: false, feedback: act.text };
      return { value: typedText(act.text, responseSchema) };
  }
}

/** The call that a gate per tool call is about, where it shows that. */
function toolCallOf({ artifact, takes }: Gate): { readonly name: string; readonly args: JsonRecord } | null {
  if (takes?.edit !== 'args' || !isRecord(artifact)) return null;
  const { tool: name, args } = artifact;
  return typeof name === 'string' && isRecord(args) ? { name, args } : null;
}

/** A text for a schema of another type is the JSON of its value. */
function typedText(text: string, schema: unknown): unknown {
  return !isRecord(schema) || schema['type'] === 'string' ? text : jsonOr(text);
}

/** The value that a text is the JSON of, else the text. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function actionForm(
  { kind }: Gate,
  { yes, text }: { readonly yes: string; readonly text?: string },
): ClientForm {
  const isBare = kind !== 'budget'; // which has to say how much
  return {
    name: kind,
    args: { action: yes },
    takes: [...(isBare ? (['yes'] as const) : []), 'edit', 'text', 'no'],
    answer: (act) => {
      if (act.kind === 'yes') return isBare ? { action: yes } : null;
      if (act.kind === 'edit') return act.args;
      if (act.kind === 'no') return { action: 'abort', reason: act.text ?? REJECTED };
      const isAction = /^[a-z-]{1,20}$/.test(act.text);
      if (isAction) return { action: act.text };
      return text === undefined ? null : { action: yes, [text]: act.text };
    },
  };
}

/** Both shapes. Some clients read the first, some the second. */
function shapesOf({ message, artifact }: Gate, { name, args, takes }: ClientForm): JsonRecord {
  const description =
    name === 'breakpoint' || args === artifact ? message : `${message}\n\n${textOf(artifact)}`;
  const decisions = { yes: 'approve', edit: 'edit', no: 'reject', text: 'respond' } as const;
  return {
    action_requests: [{ name, args, description }],
    review_configs: [{ action_name: name, allowed_decisions: takes.map((kind) => decisions[kind]) }],
    action_request: { action: name, args },
    config: {
      allow_accept: takes.includes('yes'),
      allow_edit: takes.includes('edit'),
      allow_respond: takes.includes('text'),
      allow_ignore: takes.includes('no'),
    },
    description,
  };
}

const textOf = (artifact: unknown): string =>
  typeof artifact === 'string'
    ? artifact
    : `\`\`\`json\n${JSON.stringify(artifact ?? null, null, 2)}\n\`\`\``;

/** `null` for another shape. */
function actOf(resume: unknown): ClientAnswer | null {
  if (resume === true) return { kind: 'yes' };
  if (resume === false) return { kind: 'no', text: undefined };
  if (Array.isArray(resume)) return resume.length === 1 ? inboxAct(resume[0]) : null;
  if (!isRecord(resume)) return null;
  const { decisions } = resume;
  if (!Array.isArray(decisions)) return inboxAct(resume);
  return decisions.length === 1 ? middlewareAct(decisions[0]) : null;
}

/** One of `decisions`. */
function middlewareAct(decision: unknown): ClientAnswer | null {
  if (!isRecord(decision)) return null;
  const { type, message } = decision;
  const text = typeof message === 'string' && message.trim() !== '' ? message : undefined;
  if (type === 'approve') return { kind: 'yes' };
  if (type === 'reject') return { kind: 'no', text };
  if (type === 'respond') return text === undefined ? null : { kind: 'text', text };
  return type === 'edit' ? editAct(decision['edited_action'] ?? decision['editedAction']) : null;
}

/** Of Agent Inbox. */
function inboxAct(response: unknown): ClientAnswer | null {
  if (!isRecord(response)) return null;
  const { type, args } = response;
  if (type === 'accept') return { kind: 'yes' };
  if (type === 'ignore') return { kind: 'no', text: IGNORED };
  if (type === 'response')
    return typeof args === 'string' && args.trim() !== '' ? { kind: 'text', text: args } : null;
  return type === 'edit' ? editAct(args) : null;
}

/** Turns a reply into what the middleware takes. `decide` refuses any other. */
function decisionsOf(resume: unknown, asked: MiddlewareQuestion): unknown {
  if (isRecord(resume) && Array.isArray(resume['decisions']))
    return { ...resume, decisions: resume['decisions'].map((one, at) => inItsNames(one, asked[at])) };
  const act = actOf(resume);
  const isForEach = act?.kind === 'yes' || act?.kind === 'no';
  if (act === null || (!isForEach && asked.length > 1)) return resume;
  return { decisions: asked.map((action) => decisionOf(act, action)) };
}

/** Python's middleware, after which clients are written, has another name for an edit. */
function inItsNames(decision: unknown, asked: AskedAction | undefined): unknown {
  if (!isRecord(decision) || !('edited_action' in decision)) return decision;
  const { edited_action: edited, ...rest } = decision;
  const isTyped = isRecord(edited) && isRecord(edited['args']) && asked !== undefined;
  const editedAction = isTyped
    ? { ...edited, args: typedLike(edited['args'] as JsonRecord, asked.args) }
    : edited;
  return { editedAction, ...rest };
}

function decisionOf(act: ClientAnswer, { name, args }: AskedAction): JsonRecord {
  if (act.kind === 'yes') return { type: 'approve' };
  if (act.kind === 'edit') return { type: 'edit', editedAction: { name, args: typedLike(act.args, args) } };
  return { type: 'reject', ...(act.text !== undefined && { message: act.text }) };
}

/** Forms of clients have text fields: a number that was shown comes back as its digits, an object as its JSON. */
function typedLike(given: JsonRecord, shown: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, likeShown(value, shown[name])]),
  );
}

function likeShown(value: unknown, shown: unknown): unknown {
  if (typeof value !== 'string' || typeof shown === 'string') return value;
  const parsed = jsonOr(value);
  return kindOf(parsed) === kindOf(shown) ? parsed : value;
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

function editAct(action: unknown): ClientAnswer | null {
  if (!isRecord(action) || !isRecord(action['args'])) return null;
  return { kind: 'edit', args: action['args'] };
}

function refused(gate: Gate): never {
  throw noAnswer(gate);
}

const noAnswer = ({ sessionId, kind }: Gate): DevsError =>
  new DevsError(`This is no answer to gate "${sessionId}".`, {
    code: 'INVALID_ANSWER',
    remedy: 'Answer with one of the decisions that the gate shows. A message of a chat answers no gate.',
    context: { sessionId, kind },
  });
