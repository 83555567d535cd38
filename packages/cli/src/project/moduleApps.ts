// Apps of a module, wherever their runs are: for commands that look at all runs of a graph.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeclaredChanges, DurableApp, ImportedThread, Principal, UpgradeCheck } from '@devs/core';
import { missingPackage } from '../cluster/loadPostgres.ts';
import { usageError } from '../usageError.ts';
import type { Session } from './Session.ts';

export type ExportedThread = Awaited<ReturnType<DurableApp<unknown, unknown, unknown>['exportThread']>>;

type Schedules = Awaited<ReturnType<DurableApp<unknown, unknown, unknown>['schedules']>>;

/** The members of an app that these commands call; the module's package may be another copy than the command's. */
export interface ModuleApp {
  checkUpgrade(): Promise<UpgradeCheck>;
  acceptGraph(
    id: string,
    acceptance: DeclaredChanges & { readonly by: Principal },
  ): Promise<{ readonly changes: readonly string[] }>;
  readonly fingerprint: string;
  list(
    filter: object,
  ): Promise<{ readonly runs: readonly { readonly id: string }[]; readonly next: string | null }>;
  importThread(id: string, options: object): Promise<ImportedThread>;
  exportThread(id: string, options: object): Promise<ExportedThread>;
  sendWebhooks(options: object): Promise<void>;
  undelivered(): ReturnType<DurableApp<unknown, unknown, unknown>['undelivered']>;
  schedule(id: string, options: object, input: unknown): Promise<Schedules[number]>;
  unschedule(id: string): Promise<boolean>;
  schedules(): Promise<Schedules>;
  readonly queue: { readonly graph: string };
  close(): PromiseLike<void>;
}

/**
 * Gives the apps that a module exports to `work`, and closes them.
 *
 * @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded, or does not export an app.
 */
export async function withModuleApps<T>(
  file: string,
  { io }: Pick<Session, 'io'>,
  work: (apps: readonly ModuleApp[]) => Promise<T>,
): Promise<T> {
  const place = path.resolve(io.cwd, file);
  const module = await importedModule(place);
  const apps = exportedBy(module).filter(isModuleApp);
  if (apps.length === 0)
    throw usageError(
      `${place} does not export an app.`,
      'Export durable(graph, options) as default or app, or a list of them as apps.',
    );
  try {
    return await work(apps);
  } finally {
    for (const app of apps) await app.close();
  }
}

const MEMBERS = ['checkUpgrade', 'acceptGraph', 'list', 'importThread', 'exportThread', 'close'] as const;

function isModuleApp(value: unknown): value is ModuleApp {
  const members = Object(value) as Partial<Record<keyof ModuleApp, unknown>>;
  return MEMBERS.every((name) => typeof members[name] === 'function');
}

/**
 * As `default`, `app` or `apps`, one or a list. Known by what they have: the module's packages may be other copies than the command's.
 * Of a module that was bundled as CommonJS, `default` is all that it exports.
 */
export function exportedBy(module: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { __esModule: isBundled, default: own } = Object(module['default']) as Readonly<
    Record<string, unknown>
  >;
  const first = isBundled === true ? own : module['default'];
  return [...new Set([first, module['app'], module['apps']].flat())];
}

/** @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded. */
export async function importedModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const missing = missingPackage(error);
    const remedy =
      missing === null
        ? 'Name a JavaScript file that node can import.'
        : `Run npm install ${missing} in its folder, then run the command again.`;
    throw usageError(`${file} cannot be loaded: ${(error as Error).message}`, remedy, error);
  }
}
