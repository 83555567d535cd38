import pg from 'pg';
import { migrate, schemaVersion } from './schema.ts';
import { toClusterFault } from './toClusterFault.ts';

/** Which cluster. */
export interface ClusterAddress {
  /** `postgres://user@host:5432/database`; a password that is not in it is looked for as `pg` does. */
  readonly url: string;
  /** @defaultValue 'devs' */
  readonly schema?: string;
}

/** What {@link ClusterAdmin.migrate} has found and made. */
export interface Migrated {
  readonly schema: string;
  /** `null` where there was nothing. */
  readonly before: number | null;
  readonly version: number;
}

/** What people who run a cluster see of it and change: over one connection. */
export class ClusterAdmin {
  readonly #client: pg.Client;
  readonly #schema: string;

  private constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  /**
   * Connects, and looks at nothing yet.
   *
   * @throws DevsError `STATE_IO` where PostgreSQL cannot be reached; `CONFIG_INVALID` where it refuses who connects, or has no
   *   such database.
   */
  static async open({ url, schema = 'devs' }: ClusterAddress): Promise<ClusterAdmin> {
    const client = new pg.Client({ connectionString: url, application_name: 'devs' });
    client.on('error', () => undefined); // a connection that ends while nobody asks is found by the next query
    try {
      await client.connect();
    } catch (error) {
      throw toClusterFault(error);
    }
    return new ClusterAdmin(client, schema);
  }

  /**
   * Makes the schema, or brings it up to this release's; several may try at the same time.
   *
   * @throws DevsError `CONFIG_INVALID` for a role that may not; `STATE_IO`.
   */
  async migrate(): Promise<Migrated> {
    return this.#asking(async (client) => {
      const before = await schemaVersion(client, this.#schema);
      await migrate(client, this.#schema);
      const version = (await schemaVersion(client, this.#schema)) ?? 0;
      return { schema: this.#schema, before, version };
    });
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #asking<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#client);
    } catch (error) {
      throw toClusterFault(error);
    }
  }
}
