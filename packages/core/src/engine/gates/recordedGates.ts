import type { Policies } from '../../state/ThreadStore.ts';
import type { AnswerPolicy } from './AnswerPolicy.ts';

/** What of its gates is recorded with a run when it is started. */
type RecordedRules = Required<Pick<AnswerPolicy, 'approvals' | 'deadlines'>>;

type ByGate<Of> = Readonly<Record<string, Of>>;

/** What the run was started with for a gate of this name; `undefined` where nothing was declared. */
export function recordedFor<Member extends keyof RecordedRules>(
  policies: Policies | undefined,
  member: Member,
  gate: string,
): RecordedRules[Member] | undefined {
  const recorded = policies?.[member] as ByGate<RecordedRules[Member]> | undefined;
  return recorded !== undefined && Object.hasOwn(recorded, gate) ? recorded[gate] : undefined;
}

/** What it was started with, under the names that its gates have now; of a gate that is gone, nothing. */
export function recordedUnder(
  policies: Policies,
  member: keyof RecordedRules,
  renamed: (gate: string) => string | null,
): ByGate<unknown> {
  const recorded = (policies[member] ?? {}) as ByGate<unknown>;
  const moved = Object.entries(recorded).flatMap(([gate, held]) => {
    const now = renamed(gate);
    return now === null ? [] : [[now, held] as const];
  });
  return Object.fromEntries(moved);
}
