import { quoteIdentifier } from '../server/Tables.ts';

/** How PostgreSQL knows the tenant of a connection. */
export const TENANT_SOURCES = {
  /** A role per tenant, of the same name: its password opens the tenant's rows. */
  role: 'current_user::text',
  /** A setting of the connection: `?options=-c%20devs.tenant%3Dacme`. A client with SQL access can set another. */
  setting: `current_setting('devs.tenant', true)`,
} as const;

export type TenantSource = keyof typeof TENANT_SOURCES;

/** Tables with a tenant of their own. */
const OF_TENANT = ['runs', 'gates', 'tenants', 'run_counts'] as const;

/** Tables of a run: its rows are visible with the run. */
const OF_RUN = [
  'signals',
  'run_changes',
  'run_parts',
  'run_bases',
  'run_labels',
  'run_starts',
  'gate_events',
  'webhook_deliveries',
] as const;

/** Tables without a tenant that hold inputs: only their owner and the worker see them. */
const OF_WORKERS = ['schedules'] as const;

/** Written with the run, which cannot be seen before that statement has ended. */
const WRITTEN_WITH_RUN: ReadonlySet<string> = new Set(['run_labels', 'run_starts']);

/** Tables that stay visible as a whole. They contain ids, hosts and counters. */
export const SHOWN_TO_ALL = [
  'schema_version',
  'workers',
  'file_templates',
  'graphs',
  'gate_event_count',
  'runs_not_kept',
  'webhook_targets',
] as const;

export const POLICED_TABLES: readonly string[] = [...OF_TENANT, ...OF_RUN, ...OF_WORKERS];

/**
 * Returns the SQL that shows each connection the rows of its tenant alone. The owner of the tables sees all rows.
 *
 * @param worker - Role that sees all rows, as a worker must.
 */
export function rowSecuritySql(schema: string, by: TenantSource, worker?: string): string {
  const name = quoteIdentifier(schema);
  const tenant = `tenant = ${TENANT_SOURCES[by]}`;
  const policed = (table: string, rows: string, checked: string = rows): readonly string[] => [
    `ALTER TABLE ${name}.${table} ENABLE ROW LEVEL SECURITY;`,
    `DROP POLICY IF EXISTS devs_tenant ON ${name}.${table};`,
    `CREATE POLICY devs_tenant ON ${name}.${table} USING (${rows}) WITH CHECK (${checked});`,
    `DROP POLICY IF EXISTS devs_worker ON ${name}.${table};`,
    ...(worker === undefined
      ? []
      : [
          `CREATE POLICY devs_worker ON ${name}.${table} TO ${quoteIdentifier(worker)} USING (true) WITH CHECK (true);`,
        ]),
  ];
  return [
    ...OF_TENANT.flatMap((table) => policed(table, tenant)),
    ...OF_WORKERS.flatMap((table) => policed(table, 'false')),
    ...OF_RUN.flatMap((table) => {
      const ofRun = `EXISTS (SELECT FROM ${name}.runs r WHERE r.run_id = ${table}.run_id)`;
      return policed(table, ofRun, WRITTEN_WITH_RUN.has(table) ? 'true' : ofRun);
    }),
  ].join('\n');
}
