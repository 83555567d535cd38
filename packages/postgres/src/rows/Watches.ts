import { newsChannel, type Owner } from '../server/Owner.ts';
import type { Tables } from '../server/Tables.ts';

/** Between two looks for news that nobody was told of, ms: a pooler passes no notifications on, a lost connection has none. */
const NET_MS = 1500;

/** How long a run is followed by who does not say so again. Its driver's changes are told of that long. */
const FOLLOWED = "interval '1 minute'";

type Tell = () => void;

/** Who watches runs, told by the server's notifications, and by a look now and then. */
export class Watches {
  readonly #tables: Tables;
  readonly #owner: Pick<Owner, 'listen'>;
  readonly #netMs: number;
  readonly #sql: string;
  /** By run; `null` for all. */
  readonly #watching = new Map<string | null, Set<Tell>>();
  /** What a run was at when it was looked for last. */
  readonly #seen = new Map<string | null, string>();
  #net: NodeJS.Timeout | null = null;
  #isListening = false;
  #isClosed = false;

  constructor(tables: Tables, owner: Pick<Owner, 'listen'>, netMs = NET_MS) {
    this.#tables = tables;
    this.#owner = owner;
    this.#netMs = netMs;
    this.#sql = newsSql(tables.schema);
  }

  /**
   * Has `tell` called for news of a run, or of all (`null`: what arrives while a run is driven is looked for only). Whoever looks
   * once this has resolved misses nothing.
   *
   * @throws DevsError `STATE_IO`
   */
  async watch(runId: string | null, tell: Tell): Promise<Tell> {
    if (!this.#isListening)
      this.#owner.listen(newsChannel(this.#tables.schemaName), (changed) => this.#tell(changed));
    this.#isListening = true;
    const own = (): void => tell();
    this.#watching.set(runId, (this.#watching.get(runId) ?? new Set()).add(own));
    const end = (): void => this.#end(runId, own);
    try {
      await this.#look([runId]);
    } catch (error) {
      end();
      throw error;
    }
    this.#cast();
    return end;
  }

  /** Has everybody look, and find that it is closed. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
    this.#tell(null);
  }

  #end(runId: string | null, own: Tell): void {
    const watching = this.#watching.get(runId);
    watching?.delete(own);
    if (watching?.size !== 0) return;
    this.#watching.delete(runId);
    this.#seen.delete(runId);
    if (this.#watching.size === 0) this.#drop();
  }

  #cast(): void {
    if (this.#net !== null || this.#watching.size === 0 || this.#isClosed) return;
    this.#net = setTimeout(() => {
      // Who is away is told of by who looks; afterwards it is as if nobody had been told.
      void this.#look([...this.#watching.keys()])
        .catch(() => this.#forget())
        .then(() => {
          this.#net = null;
          this.#cast();
        });
    }, this.#netMs);
  }

  #drop(): void {
    if (this.#net !== null) clearTimeout(this.#net);
    this.#net = null;
  }

  /** Says that runs are followed, and tells who watches one that is not at what it was. */
  async #look(keys: readonly (string | null)[]): Promise<void> {
    const rows = await this.#tables.query<{ run_id: string | null; at: string }>(this.#sql, [
      keys.filter((key) => key !== null),
      keys.includes(null),
    ]);
    const now = new Map(rows.map(({ run_id, at }) => [run_id, at]));
    for (const key of keys) {
      const at = now.get(key) ?? '';
      const before = this.#seen.get(key) ?? at;
      if (this.#watching.has(key)) this.#seen.set(key, at);
      if (before !== at) this.#tellAt(key);
    }
  }

  /** What was looked at then is not known any more. */
  #forget(): void {
    for (const key of this.#seen.keys()) this.#seen.set(key, '');
  }

  /** @param runId - `null`: nobody knows which, as the connection is new. */
  #tell(runId: string | null): void {
    const keys = runId === null ? [...this.#watching.keys()] : [runId, null];
    for (const key of keys) this.#tellAt(key);
  }

  #tellAt(key: string | null): void {
    for (const tell of [...(this.#watching.get(key) ?? [])]) tell();
  }
}

/**
 * The version of a run, and of all runs, as a text. For all runs it is made of an index and a kept count, which change with
 * each start, signal, claim, release, end and deletion. It also has the progress of held runs.
 */
const newsSql = (schema: string): string => `
WITH followed AS (
  UPDATE ${schema}.runs SET followed_until = now() + ${FOLLOWED}
  WHERE run_id = ANY ($1::text[]) AND coalesce(followed_until < now() + ${FOLLOWED} / 2, true)
)
SELECT run_id, concat_ws(' ', birth, epoch, coalesce(lease, settled), head_seq, wake_seq, handled_seq) AS at
FROM ${schema}.runs WHERE run_id = ANY ($1::text[])
UNION ALL
SELECT NULL, (SELECT concat_ws(' ',
  (SELECT max(updated_at) FROM ${schema}.runs),
  (SELECT count(*) FROM ${schema}.runs WHERE ended_at IS NULL),
  (SELECT sum(n) FROM ${schema}.run_counts),
  (SELECT sum(head_seq) FROM ${schema}.runs WHERE owner IS NOT NULL)))
WHERE $2`;
