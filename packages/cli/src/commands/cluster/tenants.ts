import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withAdmin } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { formatTenants } from '../../render/clusterLines.ts';
import { usageError } from '../../usageError.ts';

export function addTenants(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('tenants', options)
    .description('list the tenants of a cluster, or limit how many runs of a tenant execute at the same time')
    .argument('[set]', 'the word set, to change a tenant')
    .argument('[tenant]', 'tenant to change')
    .option('--cap <number>', 'with set: how many of its runs execute at the same time; none for no limit')
    .addHelpText(
      'after',
      examples(
        'devs tenants --db postgres://devs@db.example.org/devs',
        'devs tenants set acme --cap 4',
        'devs tenants set acme --cap none',
      ),
    )
    .action(
      (
        word: string | undefined,
        tenant: string | undefined,
        { cap }: { readonly cap?: string },
        command: Command,
      ) => start(command, (session) => tenants({ word, tenant, cap }, session)),
    );
}

interface TenantsCommand {
  readonly word: string | undefined;
  readonly tenant: string | undefined;
  readonly cap: string | undefined;
}

async function tenants({ word, tenant, cap }: TenantsCommand, session: Session): Promise<ExitCode> {
  if (word === undefined && cap === undefined) {
    const all = await withAdmin(session, (admin) => admin.tenants());
    session.out.result(all, formatTenants(all));
    return EXIT.ok;
  }
  if (word !== 'set' || tenant === undefined || cap === undefined) {
    const example = session.devs('tenants', 'set', 'acme', '--cap', '4');
    throw usageError('The tenant or its --cap is missing.', `For example: ${example}.`);
  }
  const limit = toCap(cap);
  await withAdmin(session, (admin) => admin.setCap(tenant, limit));
  const words = limit === null ? 'as many runs as there are slots' : `at most ${limit} runs`;
  session.out.result({ tenant, cap: limit }, [`${tenant}: ${words} at the same time`]);
  return EXIT.ok;
}

function toCap(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is not a number of runs.`, 'Use a whole number from 0, or none for no limit.');
}
