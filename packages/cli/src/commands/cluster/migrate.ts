import type { Command, CommandOptions } from 'commander';
import { loadPostgres } from '../../cluster/loadPostgres.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import type { Session } from '../../project/Session.ts';
import { examples, type Start } from '../../project/Start.ts';

export function addMigrate(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('migrate', options)
    .description('make the tables of a cluster in PostgreSQL, or bring them up to this release')
    .option('--print', 'only print the SQL that makes them, and connect to nothing')
    .addHelpText(
      'after',
      examples(
        'devs migrate --db postgres://devs@db.example.org/devs',
        'devs migrate --print --schema devs > devs.sql',
      ),
    )
    .action(({ print }: { readonly print?: true }, command: Command) =>
      start(command, (session) => (print ? printSql(session) : migrate(session))),
    );
}

async function printSql({ out, schema }: Session): Promise<ExitCode> {
  const { jobsSql, schemaSql } = await loadPostgres();
  const sql = `${schemaSql(schema)}\n${jobsSql(schema)}`;
  out.result({ schema, sql }, sql.split('\n'));
  return EXIT.ok;
}

async function migrate(session: Session): Promise<ExitCode> {
  const migrated = await withAdmin(session, (admin) => admin.migrate());
  const { schema, before, version } = migrated;
  const words =
    before === null ? 'made' : before === version ? 'as this release wants it' : `brought up from ${before}`;
  session.out.result(migrated, [`schema ${schema}: ${words}, version ${version}`]);
  return EXIT.ok;
}
