import type { Policies } from '../../state/threadRecords.ts';
import { gatePolicies } from './approvals.ts';
import { deadlinePolicies } from './deadlines.ts';
import type { Principal } from './HumanInTheLoopManager.ts';
import type { NamedGates } from './parsedGate.ts';
import { recordedUnder } from './recordedGates.ts';

/** The graph that a run goes on with: once a human has accepted it, or from its next turn on. */
export interface AcceptedGates {
  readonly threadId: string;
  /** The gates of the graph before, under the names they have now. */
  readonly before: ReadonlySet<string>;
  /** What its author declared to be asked. */
  readonly gates: NamedGates | undefined;
  /** The name of a gate now; `null` where it is gone. */
  readonly renamed: (gate: string) => string | null;
}

/**
 * What a run was started with goes with its gates; a gate that the accepted graph is the first to have is held to what its
 * program declares.
 *
 * @throws DevsError `INVALID_INPUT` as {@link gatePolicies}.
 */
export function acceptedPolicies(
  policies: Policies,
  { threadId, before, gates = new Map(), renamed }: AcceptedGates,
): Policies {
  const { approvals: _, deadlines: __, ...others } = policies;
  const added = new Map([...gates].filter(([gate]) => !before.has(gate)));
  const startedBy = policies['startedBy'] as Principal | undefined;
  const fresh = { ...gatePolicies(added, startedBy, threadId), ...deadlinePolicies(added) };
  const held = (['approvals', 'deadlines'] as const).map((member) => {
    const declared = fresh[member] as object | undefined;
    return [member, { ...declared, ...recordedUnder(policies, member, renamed) }] as const;
  });
  return { ...others, ...Object.fromEntries(held.filter(([, of]) => Object.keys(of).length > 0)) };
}
