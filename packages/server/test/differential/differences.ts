import type { Op } from './Op.ts';
import type { Seen } from './ThreadClient.ts';

/** What both servers did with one request, and what was there before. */
export interface Pair {
  readonly op: Op;
  readonly before: { readonly isAsked: boolean; readonly hasRun: boolean };
  readonly own: Seen;
  readonly reference: Seen;
  /** The state of the thread afterwards. */
  readonly after: Seen;
  readonly afterThere: Seen;
}

/** A row of the table in `docs/reference/agent-server.md`: what differs on purpose. */
export interface Difference {
  /** As it stands in the first column of the table. */
  readonly row: string;
  fits(pair: Pair): boolean;
}

/** Statuses of a refusal. */
const refused = ({ status }: Seen): boolean => status >= 400 && status < 500;
const isRun = ({ kind }: Op): boolean => kind === 'wait' || kind === 'stream' || kind === 'background' || kind === 'fork';

export const DIFFERENCES: readonly Difference[] = [];

export { isRun, refused };
