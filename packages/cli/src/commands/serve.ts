import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { collectValues, toNumber } from '../flags/optionValues.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { LANGGRAPH_JSON } from '../serve/langgraphConfig.ts';
import { parsePort } from '../serve/listening.ts';
import { openInBrowser } from '../serve/openPage.ts';
import { type PaidCall, watchPaidCalls } from '../serve/paidAgain.ts';
import type { Served } from '../serve/Served.ts';
import { serveApps, USUAL_PORT } from '../serve/serveApps.ts';
import { usageError } from '../usageError.ts';
import { workFiles } from './cluster/workFiles.ts';
import { workRuns } from './cluster/workRuns.ts';

interface ServeFlags {
  readonly port?: string;
  readonly origin?: readonly string[];
  readonly by?: string;
  readonly concurrency?: string;
  readonly drainMs: string;
  readonly open?: true;
}

/** Each request must have its value, if it is set. */
const KEY = 'DEVS_SERVER_KEY';

/** Somebody waits at a terminal. */
const DRAIN_MS = '10000';
const SLOTS = '10';

export function addServe(program: Command, start: Start): void {
  program
    .command('serve')
    .description('serve your graphs to LangGraph clients, with a page at /ui, and execute their runs')
    .argument(
      '[target]',
      `${LANGGRAPH_JSON}, or a JavaScript file that exports durable apps (default: ${LANGGRAPH_JSON})`,
    )
    .option('--port <number>', `port on this machine (default: ${USUAL_PORT}, or a free one)`)
    .option('--origin <url>', 'address of a web page that may call the server; repeatable', collectValues)
    .option('--by <name>', 'name of the person whose requests these are (default: your user name)')
    .option('--concurrency <number>', 'number of runs at the same time; per graph in a state file', SLOTS)
    .option('--drain-ms <number>', 'how long calls in flight may take after Ctrl-C, in ms', DRAIN_MS)
    .option('--open', 'open the page in your browser')
    .addHelpText(
      'after',
      examples(
        'devs serve',
        'devs serve --open',
        'devs serve app.js --port 8123',
        'devs serve --origin http://localhost:3000',
        `${KEY}=… devs serve --db postgres://devs@db.example.org/devs`,
      ),
    )
    .action((target: string | undefined, flags: ServeFlags, command: Command) =>
      start(command, (session) => serve(target, flags, session)),
    );
}

async function serve(target: string | undefined, flags: ServeFlags, session: Session): Promise<ExitCode> {
  const options = optionsFrom(flags, session);
  const served = await load(targetFile(target, session), session);
  try {
    return await serveUntilStopped(served, { ...options, open: flags.open === true }, session);
  } finally {
    await Promise.all(Object.values(served.apps).map((app) => app.close()));
    await served.place?.runs?.close();
  }
}

/** @throws DevsError `CONFIG_INVALID` */
function optionsFrom({ port, origin = [], by, concurrency = SLOTS, drainMs }: ServeFlags, { io }: Session) {
  const key = io.env[KEY];
  if (key?.trim() === '') throw usageError(`${KEY} is empty.`, 'Give it a value, or unset it.');
  return {
    port: port === undefined ? null : parsePort(port),
    origins: origin.map(toOrigin),
    human: humanFrom(by),
    key,
    slots: toNumber('--concurrency', concurrency, 1),
    drainMs: toNumber('--drain-ms', drainMs, 0),
  };
}

type ServeOptions = ReturnType<typeof optionsFrom> & { readonly open: boolean };

async function serveUntilStopped(
  served: Served,
  { slots, drainMs, open, ...listen }: ServeOptions,
  session: Session,
): Promise<ExitCode> {
  const { io, out } = session;
  const tell = (call: PaidCall): void => out.item({ is: 'not recorded', ...call }, [paidLine(call)]);
  for (const [name, { events }] of Object.entries(served.apps)) watchPaidCalls(name, events, tell);
  let isOpened = !open;
  const onLink = (url: string): void => {
    if (!isOpened) openInBrowser(url, (why) => out.note(`The page could not be opened: ${why}`));
    isOpened = true;
  };
  const listening = await serveApps(served, { ...listen, onLink }, session);
  io.signal.addEventListener('abort', listening.drain, { once: true });
  try {
    printServing(served, listening.url, session);
    const apps = Object.values(served.apps);
    const work = { slots, drainMs, healthPort: undefined, build: undefined };
    return await (served.runs === null
      ? workFiles(apps, work, session)
      : workRuns({ apps, runs: served.runs }, work, session));
  } finally {
    io.signal.removeEventListener('abort', listening.drain);
    await listening.close();
  }
}

function printServing({ apps, notTaken, unrecorded, place }: Served, url: string, { out }: Session): void {
  const assistants = Object.keys(apps);
  const page = place === null ? null : `${url}/ui`;
  out.item({ is: 'serving', url, page, assistants, notTaken, unrecorded }, [
    `serving ${assistants.join(', ')} at ${url}`,
    ...(notTaken.length === 0 ? [] : [`not used here: ${notTaken.join(', ')}`]),
    ...(place === null ? ['no page: the apps are not in one state file'] : []),
    ...unrecorded.map(
      (name) =>
        `${name}: if this process dies during a call of its model or tools, that node makes its calls again, and you pay again; add recordCalls() of @devs/core/langchain to its middleware`,
    ),
  ]);
}

const paidLine = ({ graph, node, what, name }: PaidCall): string =>
  `${graph}: node ${node} called the ${what} ${name} outside of a step, so a crash makes and pays the call again; use recordCalls(), ${what === 'model' ? 'recordedModel()' : 'recordedTools()'} or step()`;

/** @throws DevsError `CONFIG_INVALID` for a missing file. */
function targetFile(target: string | undefined, { io }: Session): string {
  const named = path.resolve(io.cwd, target ?? LANGGRAPH_JSON);
  const file = statSync(named, { throwIfNoEntry: false })?.isDirectory()
    ? path.join(named, LANGGRAPH_JSON)
    : named;
  if (existsSync(file)) return file;
  throw usageError(
    `${file} does not exist.`,
    `Go to the folder of your ${LANGGRAPH_JSON}, or name a module that exports durable apps: devs serve ./app.js.`,
  );
}

/** Modules that load LangGraph are imported late, after the graphs' own copy is known. */
async function load(file: string, session: Session): Promise<Served> {
  if (file.endsWith('.json')) return (await import('../serve/langgraphApps.ts')).langgraphApps(file, session);
  return (await import('../serve/moduleServed.ts')).moduleServed(file, session);
}

/** @throws DevsError `CONFIG_INVALID` for an invalid origin, such as `*`. */
function toOrigin(text: string): string {
  try {
    const { origin, protocol } = new URL(text);
    if (protocol === 'http:' || protocol === 'https:') return origin;
  } catch {
    // rejected below
  }
  throw usageError(
    `--origin ${JSON.stringify(text)} is invalid.`,
    'Use the address of the page, such as http://localhost:3000.',
  );
}
