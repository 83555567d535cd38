import type { HitlSession } from '@devs/core/internal';

/** How far a gate that wants several yeses has come. */
export interface OpenVote {
  readonly votes: number;
  readonly needed: number;
  /** Who has said yes, oldest first. */
  readonly voters: readonly string[];
}

/** `null` where what was said has decided the gate. */
export function openVote({ status, votes = [], question }: HitlSession): OpenVote | null {
  const { takes } = (question ?? {}) as {
    readonly takes?: { readonly approvals?: { readonly count: number } };
  };
  const needed = takes?.approvals?.count;
  if (status !== 'awaiting_approval' || needed === undefined) return null;
  return { votes: votes.length, needed, voters: votes.map(({ principal }) => principal.id) };
}
