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
    .addHelpText(
      'after',
      examples(
        'devs migrate --db postgres://devs@db.example.org/devs',
        'devs migrate --print --schema devs --grant devs_worker > devs.sql',
      ),
    )
    .action(({ print, grant }: MigrateFlags, command: Command) =>
      start(command, (session) => (print ? printSql(grant, session) : migrate(grant, session))),
    );
}

interface MigrateFlags {
  readonly print?: true;
  readonly grant?: string;
}

async function printSql(role: string | undefined, { out, schema }: Session): Promise<ExitCode> {
  const { jobsSql, rightsSql, schemaSql } = await loadPostgres();
  const rights = role === undefined ? [] : [rightsSql(schema, role)];
  const sql = [schemaSql(schema), jobsSql(schema), ...rights].join('\n');
  out.result({ schema, sql }, sql.split('\n'));
  return EXIT.ok;
}

async function migrate(role: string | undefined, session: Session): Promise<ExitCode> {
  if (role !== undefined) {
    throw usageError(
      '--grant only works with --print.',
      'Add --print, and have the owner of the tables run the output.',
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
