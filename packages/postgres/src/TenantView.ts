import { bossSchema } from './BossJobs.ts';
import { quoteIdentifier } from './schema.ts';
import type { Tables } from './Tables.ts';

/** Runs of a tenant and its limit. */
export interface TenantLine {
  readonly tenant: string;
  /** `null`: limited by slots only. */
  readonly cap: number | null;
  readonly driven: number;
  /** Jobs that a worker with a free slot would take now, within the cap. */
  readonly ready: number;
  /** Runs that have not ended. */
  readonly runs: number;
}

interface TenantRow {
  readonly tenant: string;
  readonly cap: number | null;
  readonly driven: string;
  readonly ready: string;
  readonly runs: string;
}

/** Every tenant that has a run that has not ended, or a cap; by name. */
export async function tenantLines(tables: Tables): Promise<readonly TenantLine[]> {
  const { schema, schemaName } = tables;
  const rows = await tables.query<TenantRow>(
    `
WITH open AS (
  SELECT tenant, count(*) AS runs, count(*) FILTER (WHERE owner IS NOT NULL) AS driven
  FROM ${schema}.runs WHERE ended_at IS NULL GROUP BY tenant
), jobs AS (
  SELECT group_id AS tenant, count(*) AS ready FROM ${quoteIdentifier(bossSchema(schemaName))}.job
  WHERE state < 'active' AND start_after <= now() AND name <> 'runs.dead' AND group_id IS NOT NULL GROUP BY group_id
)
SELECT tenant, cap, coalesce(driven, 0) AS driven, coalesce(ready, 0) AS ready, coalesce(runs, 0) AS runs
FROM open FULL JOIN (SELECT tenant, cap FROM ${schema}.tenants WHERE cap IS NOT NULL) capped USING (tenant)
  LEFT JOIN jobs USING (tenant)
ORDER BY tenant`,
    [],
  );
  return rows.map(({ tenant, cap, driven, ready, runs }) => ({
    ...{ tenant, cap },
    driven: Number(driven),
    ready: Number(ready),
    runs: Number(runs),
  }));
}
