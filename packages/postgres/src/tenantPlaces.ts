import type { ClientBase } from 'pg';
import { quoted } from './schema.ts';

/** Whose share of the workers a run uses up, in which schema. */
export interface TenantPlace {
  readonly schema: string;
  readonly tenant: string;
}

/**
 * Counts one more run of the tenant as held; false where as many are as may be. In the transaction that claims the run, after
 * the run's row is locked. `always` is for who holds a run to change it, not to drive it. Tenants without a limit are not counted.
 */
export async function takePlace(
  client: ClientBase,
  { schema, tenant }: TenantPlace,
  always = false,
): Promise<boolean> {
  const table = `${quoted(schema)}.tenants`;
  const { rows } = await client.query<{ is_full: boolean }>(
    `SELECT running >= cap AS is_full FROM ${table} WHERE tenant = $1 AND cap IS NOT NULL FOR UPDATE`,
    [tenant],
  );
  const [place] = rows;
  if (place === undefined) return true;
  if (place.is_full && !always) return false;
  await client.query(`UPDATE ${table} SET running = running + 1 WHERE tenant = $1`, [tenant]);
  return true;
}

/** Counts one less: in the transaction that lets go of the run, after the run's row is locked. */
export async function leavePlace(client: ClientBase, { schema, tenant }: TenantPlace): Promise<void> {
  const statement = `UPDATE ${quoted(schema)}.tenants SET running = greatest(running - 1, 0) WHERE tenant = $1 AND cap IS NOT NULL`;
  await client.query(statement, [tenant]);
}
