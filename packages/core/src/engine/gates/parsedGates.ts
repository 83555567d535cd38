import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { Policies } from '../../state/threads/threadRecords.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import type { NodeUpdate } from '../execution/nodeExecution.ts';
import { unfit } from './answerForms.ts';
import { assertApprovals, parsedDeadlines, warnOfUnnamed } from './approvals.ts';
import {
  type AnswerPolicy,
  type AnswerSchema,
  type Approvals,
  answerPolicyOf,
  type Deadline,
  type DeclaredGate,
  type GateOf,
  isToolCallGate,
  type ToolCallGate,
  type Validated,
} from './DeclaredGate.ts';
import type { Gate, SentAnswer } from './Gate.ts';
import type { HumanInTheLoopManager } from './HumanInTheLoopManager.ts';

/** By the nodes they are before, as they are declared. */
export type GivenGates<State> = Readonly<Record<string, GateOf<State> | undefined>>;

/** A declared gate as the engine asks it. */
export interface ParsedGate<State>
  extends Pick<DeclaredGate<State>, 'show' | 'onReject' | 'edit' | 'approvals'> {
  readonly name: string;
  readonly answer?: TypedAnswer<State>;
  readonly deadlines?: readonly Deadline[];
}

/** By the names they were declared under. */
export type DeclaredGates<State> = ReadonlyMap<string, AnyGate<State>>;

export type AnyGate<State> = ParsedGate<State> | ParsedToolGate<State>;

/** What is known of gates whatever their graph. */
export type NamedGates = ReadonlyMap<
  string,
  {
    readonly approvals?: Approvals;
    readonly answer?: Pick<TypedAnswer<never>, 'schema'>;
    readonly deadlines?: readonly Deadline[];
  }
>;

/** A gate before each call of a node of tools. */
export interface ParsedToolGate<State> extends Omit<ToolCallGate<State>, 'deadlines'> {
  readonly name: string;
  readonly deadlines?: readonly Deadline[];
  /** The rules of a gate that the run did not record at its start. @param policies - Those that it did record. */
  readonly held?: (policies: Policies | undefined) => Partial<AnswerPolicy>;
}

/** What a value that is answered has to be, and what it does. */
export interface TypedAnswer<State> {
  readonly schema: AnswerSchema<unknown>;
  /** JSON Schema, where the schema has one. */
  readonly responseSchema?: unknown;
  readonly apply: (state: State, value: unknown) => NodeUpdate<State>;
}

/**
 * What an author declared, checked before anything runs.
 *
 * @throws TypeError for a declaration that is none, or that contradicts itself; RangeError for approvals nobody could give.
 */
export function parsedGates<State>(gates: GivenGates<State> = {}): DeclaredGates<State> {
  const declared = Object.entries(gates);
  const parsed = new Map(
    declared.flatMap(([name, gate]) => (gate === undefined ? [] : [[name, parsedGate(name, gate)] as const])),
  );
  for (const [name, { approvals }] of parsed) if (approvals !== undefined) warnOfUnnamed(name, approvals);
  return parsed;
}

function parsedGate<State>(name: string, gate: GateOf<State>): AnyGate<State> {
  if (typeof gate === 'function') return { name, show: gate };
  if (isToolCallGate<State>(gate)) {
    if (gate.approvals !== undefined) assertApprovals(name, gate.approvals);
    const { deadlines, ...asked } = gate;
    return { name, ...asked, ...deadlinesOf(name, gate) };
  }
  assertDeclared(name, gate);
  const { show, onReject, edit, answer, onAnswer, approvals } = gate;
  return {
    name,
    show,
    ...(onReject && { onReject }),
    ...(edit && { edit }),
    ...(approvals && { approvals }),
    ...(answer && { answer: typedAnswer(name, answer, onAnswer) }),
    ...deadlinesOf(name, gate),
  };
}

/**
 * The form of answer of a gate, as a run records it: a decision, decisions on calls, or a value of a schema. An edit beside a decision
 * has the same form: a gate that lost its `edit` asks again.
 */
export function answerForm<State>(gate: AnyGate<State>): string {
  if ('showCall' in gate) return 'calls';
  if (gate.answer === undefined) return 'approval';
  const { responseSchema } = gate.answer;
  return responseSchema === undefined ? 'value' : `value ${hashOf(responseSchema).slice(0, 12)}`;
}

function deadlinesOf<State>(
  name: string,
  { deadlines, ...besides }: Pick<DeclaredGate<State>, 'deadlines' | 'approvals' | 'answer'>,
): { readonly deadlines?: readonly Deadline[] } {
  return deadlines === undefined ? {} : { deadlines: parsedDeadlines(name, deadlines, besides) };
}

const MEMBERS = {
  show: true,
  onReject: true,
  edit: true,
  answer: true,
  onAnswer: true,
  approvals: true,
  deadlines: true,
} satisfies OptionNames<DeclaredGate<never>>;

function assertDeclared<State>(name: string, gate: DeclaredGate<State>): void {
  withKnownNames(`Gate "${name}"`, gate, MEMBERS);
  const { edit, answer, onAnswer, approvals } = gate;
  for (const member of ['show', 'onReject', 'edit', 'onAnswer'] as const) {
    if (member !== 'show' && gate[member] === undefined) continue;
    if (typeof gate[member] !== 'function') {
      throw new TypeError(`Gate "${name}": ${member} must be a function.`);
    }
  }
  if (onAnswer !== undefined && answer === undefined) {
    throw new TypeError(`Gate "${name}": \`onAnswer\` needs \`answer\`, the schema of the answer.`);
  }
  if (approvals === undefined) return;
  if (edit !== undefined || answer !== undefined) {
    throw new TypeError(`Gate "${name}": \`approvals\` cannot be combined with \`edit\` or \`answer\`.`);
  }
  assertApprovals(name, approvals);
}

function typedAnswer<State>(
  name: string,
  schema: AnswerSchema<unknown>,
  apply: TypedAnswer<State>['apply'] = () => ({}),
): TypedAnswer<State> {
  if (typeof Object(schema)['~standard']?.validate !== 'function') {
    throw new TypeError(`Gate "${name}": \`answer\` must be a Zod schema or a Standard Schema.`);
  }
  const responseSchema = jsonSchemaOf(schema);
  return { schema, apply, ...(responseSchema !== undefined && { responseSchema }) };
}

/** `undefined` for a schema that says no JSON Schema of itself: it is checked where its code is. */
function jsonSchemaOf(schema: AnswerSchema<unknown>): unknown {
  try {
    const found: unknown = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], { io: 'input' });
    // As plain JSON: Zod hides its own schema in what it returns.
    return found === schema ? undefined : (JSON.parse(JSON.stringify(found)) as unknown);
  } catch {
    return undefined;
  }
}

/**
 * What a schema makes of a value.
 *
 * @throws TypeError for a schema that does not answer at once: the node that asks cannot wait for it.
 */
export function validated<Value>(schema: AnswerSchema<Value>, value: unknown): Validated<Value> {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('The schema of an answer must be synchronous.');
  return result;
}

/**
 * Refuses a value by the schema itself where its program decides: JSON Schema, which every process has, has no word for
 * some of it. A session that cannot take a value is left to be refused as every other.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
function assertFitsDeclared(
  sessionId: string,
  answer: Readonly<Record<string, unknown>>,
  { store, gates = new Map() }: Pick<DecidableGates, 'store' | 'gates'>,
): void {
  if (gates.size === 0) return;
  const session = store.sessions.find(sessionId);
  if (session?.status !== 'awaiting_approval' || !('value' in answer)) return;
  const { gate, value } = answerPolicyOf(session);
  const typed = value === true && gate !== undefined ? gates.get(gate)?.answer : undefined;
  const result = typed && validated(typed.schema, answer['value']);
  if (result?.issues === undefined) return;
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((part) => (typeof part === 'object' ? part.key : part)),
  }));
  throw unfit(session.id, issues);
}

/** A file with the gates of its runs, and the gates that its program declares. */
interface DecidableGates {
  readonly store: Pick<StateFile, 'sessions'> & { readonly manager: Pick<HumanInTheLoopManager, 'decide'> };
  /** @defaultValue none */
  readonly gates?: NamedGates | undefined;
}

/** Records a decision on a gate that was read; see `DurableApp.decide`. */
export function decideGate(
  { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
  { by, via, withHidden, ...answer }: SentAnswer,
  { store, gates }: DecidableGates,
): HitlSession {
  assertFitsDeclared(sessionId, answer, { store, gates });
  return store.manager.decide(sessionId, { artifactHash, answer, by, via, withHidden });
}
