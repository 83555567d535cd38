import { DevsError } from '@devs/core';
import type { ClientBase } from 'pg';
import { bossSchema } from './BossJobs.ts';
import { quoteIdentifier } from './schema.ts';

/** What a process that runs runs does to each table; it makes none. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  schema_version: ['SELECT'],
  runs: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  gates: ['SELECT', 'INSERT', 'UPDATE'],
  signals: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  tenants: ['SELECT', 'INSERT', 'UPDATE'],
  workers: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  run_changes: ['SELECT', 'INSERT', 'DELETE'],
  run_parts: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  run_bases: ['SELECT', 'INSERT', 'DELETE'],
  file_templates: ['SELECT', 'INSERT'],
};

/**
 * Returns the SQL that grants a role the rights of workers, commands and programs. The role cannot create tables: its
 * processes set `migrate: false`.
 */
export function rightsSql(schema: string, role: string): string {
  const [tables, jobs, to] = [
    quoteIdentifier(schema),
    quoteIdentifier(bossSchema(schema)),
    quoteIdentifier(role),
  ];
  return [
    `GRANT USAGE ON SCHEMA ${tables}, ${jobs} TO ${to};`,
    ...Object.entries(RIGHTS).map(
      ([table, rights]) => `GRANT ${rights.join(', ')} ON ${tables}.${table} TO ${to};`,
    ),
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${jobs} TO ${to};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${jobs} TO ${to};`,
  ].join('\n');
}

/** @throws DevsError `CONFIG_INVALID` naming what the role may not. */
export async function assertRights(client: ClientBase, schema: string): Promise<void> {
  const wanted = Object.entries(RIGHTS).flatMap(([table, rights]) =>
    rights.map((right) => ({ table, right })),
  );
  const { rows } = await client.query<{ missing: string; role: string }>(
    `SELECT string_agg(w.privilege || ' on ' || w.name, ', ') AS missing, current_user AS role
     FROM unnest($1::text[], $2::text[]) AS w (name, privilege)
     WHERE NOT has_table_privilege($3 || '.' || w.name, w.privilege)`,
    [wanted.map(({ table }) => table), wanted.map(({ right }) => right), quoteIdentifier(schema)],
  );
  const { missing, role } = rows[0] ?? { missing: null, role: '' };
  if (missing === null) return;
  throw new DevsError(`The role ${role} lacks privileges that runs need: ${missing}.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Have the owner of the tables run the SQL that `rightsSql` returns.',
    context: { role },
  });
}
