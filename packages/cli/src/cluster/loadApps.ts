import { pathToFileURL } from 'node:url';
import type { RunDriver } from '@devs/core/internal';
import type { PostgresRuns } from '@devs/postgres';
import { usageError } from '../usageError.ts';
import { missingPackage } from './loadPostgres.ts';

/** What a worker drives, and where its runs are. */
export type ClusterApp = RunDriver & { readonly runs: PostgresRuns };

interface LoadedApps {
  readonly apps: readonly ClusterApp[];
  readonly runs: PostgresRuns;
}

/**
 * The apps of a module that a worker can drive.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded, or exports no apps of one cluster.
 */
export async function loadApps(file: string): Promise<LoadedApps> {
  const module = await imported(file);
  const apps = clusterAppsOf(module);
  const [first] = apps;
  if (first === undefined) {
    throw usageError(
      `${file} does not export an app with runs in a cluster.`,
      'Export durable(graph, { runs: postgres(url), graph: NAME }) as default or app, or a list of them as apps.',
    );
  }
  if (apps.some(({ runs }) => runs !== first.runs)) {
    const remedy = 'Call postgres(url) once, and pass the result to each app.';
    throw usageError(`The apps of ${file} use different clusters.`, remedy);
  }
  return { apps, runs: first.runs };
}

async function imported(file: string): Promise<Readonly<Record<string, unknown>>> {
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

/** As `default`, `app` or `apps`, one or a list. Known by what they have: the module's packages may be other copies than the command's. */
function clusterAppsOf(module: Readonly<Record<string, unknown>>): readonly ClusterApp[] {
  const exported = [module['default'], module['app'], module['apps']].flat();
  return [...new Set(exported)].filter(isClusterApp);
}

function isClusterApp(value: unknown): value is ClusterApp {
  const { queue, drive, runs } = Object(value) as Partial<Record<keyof ClusterApp, unknown>>;
  return (
    typeof Object(queue).graph === 'string' &&
    typeof drive === 'function' &&
    typeof Object(runs).work === 'function'
  );
}
