import type { DurableApp } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withModuleApps } from '../../project/moduleApps.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';

type Undelivered = Awaited<ReturnType<DurableApp<unknown, unknown, unknown>['undelivered']>>[number];

interface WebhookFlags {
  readonly again?: true;
}

export function addWebhooks(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('webhooks', options)
    .description('list the events that webhooks have not taken, and those that were given up')
    .argument('<module>', 'JavaScript file that exports your app, as default, app or apps')
    .option('--again', 'send once more what is due, and what was given up')
    .addHelpText('after', examples('devs webhooks ./app.js', 'devs webhooks ./app.js --again'))
    .action((file: string, flags: WebhookFlags, command: Command) =>
      start(command, (session) => webhooks(file, flags, session)),
    );
}

async function webhooks(file: string, { again }: WebhookFlags, session: Session): Promise<ExitCode> {
  const lists = await withModuleApps(file, session, (apps) =>
    Promise.all(
      apps.map(async (app) => {
        if (again === true) await app.sendWebhooks({ wait: false, again: true });
        return app.undelivered();
      }),
    ),
  );
  // Apps that share a file list the same.
  const all = [...new Map(lists.flat().map((each) => [JSON.stringify(each), each])).values()];
  session.out.result(
    all,
    all.length === 0 ? ['every event was delivered'] : all.map((each) => deliveryLine(each)),
  );
  return EXIT.ok;
}

function deliveryLine({
  target,
  id,
  threadId,
  name,
  attempts,
  nextAt,
  givenUpAt,
  error,
}: Undelivered): string {
  const when =
    givenUpAt === null
      ? `next attempt at ${new Date(nextAt).toISOString()}`
      : `given up at ${new Date(givenUpAt).toISOString()}`;
  return `${target}: event ${id} (${name}) of ${threadId}: ${attempts} attempts, ${when}${error === null ? '' : `: ${error}`}`;
}
