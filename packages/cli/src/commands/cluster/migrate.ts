import type { Command, CommandOptions } from 'commander';
import { loadPostgres } from '../../cluster/loadPostgres.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

export function addMigrate(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('migrate', options)
    .description('create the tables of a cluster in PostgreSQL, or upgrade them to this release')
    .option('--print', 'print the SQL that creates them, without connecting')
    .option(
      '--grant <role>',
      'with --print: also print the SQL that allows a role to run workers and commands',
    )
    .option(
      '--rls <by>',
      'print the SQL of row-level security: by role (one per tenant) or setting (of a connection)',
    )
    .addHelpText(
      'after',
      examples(
        'devs migrate --db postgres://devs@db.example.org/devs',
        'devs migrate --print --schema devs --grant devs_worker > devs.sql',
        'devs migrate --rls role --grant devs_worker > rls.sql',
      ),
    )
    .action((flags: MigrateFlags, command: Command) =>
      start(command, (session) =>
        flags.print === true || flags.rls !== undefined
          ? printSql(flags, session)
          : migrate(flags.grant, session),
      ),
    );
}

interface MigrateFlags {
  readonly print?: true;
  readonly grant?: string;
  readonly rls?: string;
}

async function printSql({ print, grant, rls }: MigrateFlags, { out, schema }: Session): Promise<ExitCode> {
  const { jobsSql, rightsSql, rowSecuritySql, schemaSql } = await loadPostgres();
  if (rls !== undefined && rls !== 'role' && rls !== 'setting')
    throw usageError(`--rls "${rls}" is unknown.`, 'Use --rls role or --rls setting.');
  const tables = print === true ? [schemaSql(schema), jobsSql(schema)] : [];
  const rights = print === true && grant !== undefined ? [rightsSql(schema, grant)] : [];
  const policies = rls === undefined ? [] : [rowSecuritySql(schema, rls, grant)];
  const sql = [...tables, ...rights, ...policies].join('\n');
  out.result({ schema, sql }, sql.split('\n'));
  return EXIT.ok;
}

async function migrate(role: string | undefined, session: Session): Promise<ExitCode> {
  if (role !== undefined) {
    throw usageError(
      '--grant only works with --print or --rls.',
      'Add one of them, and have the owner of the tables run the output.',
    );
  }
  const migrated = await withAdmin(session, (admin) =>
    admin.migrate({
      onProgress: ({ done, of }) => session.out.note(`runs made searchable: ${done} of ${of}`),
    }),
  );
  const { schema, before, version, unreadable } = migrated;
  const words = before === null ? 'made' : before === version ? 'up to date' : `upgraded from ${before}`;
  session.out.result(migrated, [
    `schema ${schema}: ${words}, version ${version}`,
    ...unreadable.map(
      ({ id, error }) => `skipped run ${JSON.stringify(id)}, its file cannot be read: ${error}`,
    ),
  ]);
  return EXIT.ok;
}
