#!/usr/bin/env node
// devs-mcp --dir DIR, or --db URL: stdout carries the protocol and nothing else; words for people go to stderr.
import { parseArgs } from 'node:util';
import { DevsError, type Runs } from '@devs/core';
import { OrchestratorServer, type OrchestratorServerOptions } from './OrchestratorServer.ts';
import { renderToolError, type ToolErrorView } from './renderToolError.ts';

const USAGE = `Usage: devs-mcp --dir DIR
       devs-mcp --db postgres://user@host/database [--schema SCHEMA]

Shows runs to an MCP client over stdio: the runs in DIR (usually .devs), or the runs of a PostgreSQL cluster
(default: DEVS_DATABASE_URL). Read-only.
`;
const USAGE_ERROR = 2;

async function main(): Promise<void> {
  const { dir, db, schema, help } = readArguments();
  const url = db ?? (dir === undefined ? process.env['DEVS_DATABASE_URL'] : undefined);
  const named = [dir, url].filter((each) => (each ?? '') !== '');
  if (named.length !== 1 || help === true) {
    process.stderr.write(USAGE);
    process.exitCode = help === true ? 0 : USAGE_ERROR;
    return;
  }
  if (dir !== undefined && dir !== '') return serve({ dir });
  const runs = await openCluster(url ?? '', schema);
  serve({ runs });
  process.stdin.once('close', () => void runs.close());
}

function serve(at: Pick<OrchestratorServerOptions, 'dir' | 'runs'>): void {
  new OrchestratorServer({ ...at, onRefused: report }).serveStdio();
}

/** How long a client is kept waiting for PostgreSQL, ms. */
const AWAY_MS = 10_000;

/**
 * The runs of a cluster, to be read: its tables are made by others. What knows clusters is a package of its own.
 *
 * @throws DevsError `CONFIG_INVALID` for what is no address of PostgreSQL, or where the package is not installed.
 */
async function openCluster(url: string, schema: string | undefined): Promise<Runs> {
  const { postgres } = await import('@devs/postgres').catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
      ? postgresNotInstalled(error)
      : error;
  });
  return postgres({ url, migrate: false, awayMs: AWAY_MS, ...(schema !== undefined && { schema }) });
}

const postgresNotInstalled = (cause: unknown): DevsError =>
  new DevsError('A cluster needs a package that is not installed: @devs/postgres.', {
    code: 'CONFIG_INVALID',
    remedy: 'Run npm install @devs/postgres where @devs/mcp is installed, then start the server again.',
    cause,
  });

const OPTIONS = {
  dir: { type: 'string' },
  db: { type: 'string' },
  schema: { type: 'string' },
  help: { type: 'boolean' },
} as const;

type Arguments = Partial<ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']>;

/** Arguments that cannot be read count as none. */
function readArguments(): Arguments {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch {
    return { db: '' };
  }
}

function report({ code, message, remedy }: ToolErrorView): void {
  process.stderr.write(`devs-mcp: ${code}: ${message} ${remedy}\n`);
}

main().catch((error: unknown) => {
  report(renderToolError(error));
  process.exitCode = 1;
});
