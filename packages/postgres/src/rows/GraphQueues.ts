import { queueName } from '../jobs/Jobs.ts';
import type { Tables } from '../server/Tables.ts';

/** A graph in one shape, as its runs are queued. */
interface GraphShapeQueue {
  readonly graph: string;
  readonly fingerprint: string;
}

/** The queues of each graph, by the order in which its shapes came. */
export class GraphQueues {
  readonly #tables: Tables;
  readonly #known = new Set<string>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Records that there is a graph in this shape; once per process. */
  async note(queue: GraphShapeQueue): Promise<void> {
    const name = queueName(queue);
    if (this.#known.has(name)) return;
    // Looked at first: a row that is there already would take a number all the same.
    await this.#tables.query(
      `INSERT INTO ${this.#tables.schema}.graphs (queue, graph) SELECT $1, $2
       WHERE NOT EXISTS (SELECT FROM ${this.#tables.schema}.graphs WHERE queue = $1) ON CONFLICT DO NOTHING`,
      [name, queue.graph],
    );
    this.#known.add(name);
  }

  /**
   * Queues of older shapes without a worker of their own, each with the queue of the graph that came after it: the newest of
   * `queues`.
   */
  async olderThan(queues: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#tables.query<{ readonly older: string; readonly queue: string }>(
      `SELECT o.queue AS older, n.queue FROM ${this.#tables.schema}.graphs n
       JOIN ${this.#tables.schema}.graphs o ON o.graph = n.graph AND o.seq < n.seq
       WHERE n.queue = ANY ($1) AND o.queue <> ALL ($1) AND NOT EXISTS (
         SELECT FROM ${this.#tables.schema}.workers w WHERE NOT w.draining AND w.graphs ? o.queue)
       ORDER BY n.seq`,
      [queues],
    );
    return new Map(rows.map(({ older, queue }) => [older, queue]));
  }
}
