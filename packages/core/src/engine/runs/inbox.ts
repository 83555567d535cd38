import type { HitlSessionStore } from '../../state/HitlSessionStore.ts';
import { type Gate, gateOf } from '../gates/Gate.ts';
import { type PageRequest, pageLimit, pageOf, parseCursor } from './pages.ts';

export interface GatePage {
  /** Oldest first. */
  readonly gates: readonly Gate[];
  /** Give it as `after` for the next page; `null` on the last. */
  readonly next: string | null;
}

/** The open questions of every run in the file. @throws RangeError for a bad `limit` or `after`. */
export function inbox({ limit: wanted, after }: PageRequest, sessions: HitlSessionStore): GatePage {
  const limit = pageLimit(wanted);
  const place = parseCursor(after);
  const found = sessions.pageOpen(place && { suspendedAt: place.at, id: place.id }, limit + 1);
  const { items, next } = pageOf(found, limit, ({ suspendedAt, id }) => ({ at: suspendedAt, id }));
  return { gates: items.map(gateOf), next };
}
