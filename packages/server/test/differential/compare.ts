import { isDeepStrictEqual } from 'node:util';
import { DIFFERENCES, type Pair } from './differences.ts';
import type { Op } from './Op.ts';
import { type Seen, ThreadClient } from './ThreadClient.ts';

/** What is the same on both, and which rows of the table were met. */
export interface Compared {
  readonly rows: ReadonlySet<string>;
  /** Requests that were answered alike. */
  readonly alike: number;
  /** The first request that is answered otherwise, and no row says so. */
  readonly unexplained: Pair | null;
}

/** Does the same on a thread of both servers, until they differ on purpose. */
export async function compare(own: string, reference: string, ops: readonly Op[]): Promise<Compared> {
  const tag = crypto.randomUUID();
  const clients = [new ThreadClient(own, tag), new ThreadClient(reference, tag)] as const;
  const rows = new Set<string>();
  let alike = 0;
  let before: Pair['before'] = { isAsked: false };
  for (const op of ops) {
    const [ours, theirs] = await both(clients, (client) => client.do(op));
    const [after, afterThere] = await both(clients, (client) => client.state());
    const isSame = isDeepStrictEqual(after, afterThere);
    const pair = { op, before, own: ours, reference: theirs, after, afterThere };
    if (!isDeepStrictEqual(ours, theirs) || !isSame) {
      const row = DIFFERENCES.find(({ fits }) => fits(pair));
      if (row === undefined) return { rows, alike, unexplained: pair };
      rows.add(row.row);
      // From here on they are not the same thread.
      if (!isSame || row.isPassing !== true) break;
    } else alike += 1;
    before = { isAsked: isAsked(after) };
    // A fork is another thread here.
    if (op.kind === 'delete' || op.kind === 'fork') break;
  }
  return { rows, alike, unexplained: null };
}

const both = <Value>(
  [own, reference]: readonly [ThreadClient, ThreadClient],
  ask: (client: ThreadClient) => Promise<Value>,
): Promise<readonly [Value, Value]> => Promise.all([ask(own), ask(reference)]);

function isAsked({ body }: Seen): boolean {
  const interrupts = (body as { readonly interrupts?: readonly unknown[] } | null)?.interrupts ?? [];
  return interrupts.length > 0;
}
