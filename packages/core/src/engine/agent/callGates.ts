// Gates before the calls of single tools, asked where the calls are made.

import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import {
  type DeclaredGate,
  type GatedToolCall,
  perToolCall,
  type RecordedApprovals,
  type ToolCallGate,
} from '../gates/DeclaredGate.ts';
import { gatePolicies } from '../gates/gatePolicies.ts';
import { type ParsedToolGate, parsedGates } from '../gates/parsedGates.ts';
import { interruptAsking } from '../gates/question.ts';
import { isRecorded } from '../node/ActiveNode.ts';
import {
  type AskedAt,
  callKey,
  type Judged,
  judgeCall,
  sessionOn,
  toolGateKey,
} from '../node/askDeclared.ts';
import { activeNode } from '../node/nodeContext.ts';
import { recordedPlace, stepPlace } from '../node/stepPlace.ts';

/** The content of a gate before a tool call; `undefined` lets the call pass without a question. */
type ShowCall = (call: GatedToolCall, state: Readonly<Record<string, unknown>>) => unknown;

/** A gate before the calls of a tool. */
export interface CallGate extends Pick<DeclaredGate<never>, 'approvals' | 'deadlines'> {
  /** Content for the person, plain JSON. Return `undefined` to skip the call. @defaultValue its tool and arguments */
  readonly show?: ShowCall;
}

/** By the names of tools. `true`: each call is asked about; a function is the `show` of its gate. */
export type CallGates = Readonly<Record<string, true | ShowCall | CallGate>>;

type AskedGate = ParsedToolGate<Readonly<Record<string, unknown>>>;

/**
 * Gates as they are asked, by the names of their tools.
 *
 * @throws TypeError for an invalid gate; RangeError for approvals that cannot be given.
 */
export function parsedCallGates(gates: CallGates = {}): ReadonlyMap<string, AskedGate> {
  const declared = Object.entries(gates).map(([tool, gate]) => [tool, toolGate(tool, gate)] as const);
  const parsed = parsedGates(Object.fromEntries(declared)) as ReadonlyMap<string, AskedGate>;
  return new Map([...parsed].map(([tool, gate]) => [tool, { ...gate, held: heldBy(gate) }]));
}

const MEMBERS = { show: true, approvals: true, deadlines: true } satisfies OptionNames<CallGate>;

function toolGate(
  tool: string,
  gate: true | ShowCall | CallGate,
): ToolCallGate<Readonly<Record<string, unknown>>> {
  if (gate === true) return perToolCall();
  if (typeof gate === 'function') return perToolCall(gate);
  if (typeof gate !== 'object' || gate === null) {
    throw new TypeError(
      `The gate of tool "${tool}" must be true, a function or { show, approvals, deadlines }; got ${String(gate)}.`,
    );
  }
  const { show, ...rules } = withKnownNames(`Gate of tool "${tool}"`, gate, MEMBERS);
  return perToolCall(show, rules);
}

/** A run does not record such a gate when it starts: the rules apply from when the gate opens. */
function heldBy({ name, approvals, deadlines }: AskedGate): NonNullable<AskedGate['held']> {
  return (policies) => {
    const startedBy = policies?.['startedBy'] as Principal | undefined;
    const { approvals: recorded } = gatePolicies(
      new Map([[name, approvals ? { approvals } : {}]]),
      startedBy,
      name,
    );
    const held = (recorded as Readonly<Record<string, RecordedApprovals>> | undefined)?.[name];
    return { ...(held && { approvals: held }), ...(deadlines && { deadlines }) };
  };
}

/**
 * The decision of a person about a call.
 *
 * @throws GraphInterrupt until there is one.
 * @throws TypeError outside of `durable()`, where a gate cannot be recorded.
 */
export async function askAboutCall(
  gate: AskedGate,
  call: GatedToolCall,
  state: Readonly<Record<string, unknown>>,
): Promise<Judged> {
  const active = activeNode('A tool with a gate');
  const { visit, store } = active;
  const which = callKey(call, 0);
  const place = stepPlace(active);
  const isAsked = (id: string): boolean => sessionOn(toolGateKey(id, which), { visit, store }) !== null;
  const { id } = isRecorded(active) ? await recordedPlace(active, place, isAsked) : place;
  const { threadId, node, epoch } = visit;
  const at: AskedAt = { visit: { threadId, node, epoch, lgTaskId: id }, store };
  const judged = judgeCall(gate, state, { call, which, at });
  if (judged.asks !== null) throw active.waits.leaveWith(interruptAsking(judged.asks));
  return judged;
}
