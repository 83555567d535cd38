import path from 'node:path';
import type { Session } from '../project/Session.ts';
import { loadApps } from '../project/workerApps.ts';
import { usageError } from '../usageError.ts';
import { openPagePlace, type PagePlace } from './pagePlace.ts';
import type { Served, ServedApp } from './Served.ts';

/** The assistant of an app without a name. */
const UNNAMED = 'agent';

/**
 * The apps of a module, as `devs worker` takes them.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` as `loadApps`, and for two apps of the same name.
 */
export async function moduleServed(file: string, session: Session): Promise<Served> {
  const loaded = await loadApps(file);
  const { apps, runs } = 'runs' in loaded ? loaded : { apps: loaded, runs: null };
  // Its methods are called alone: the module's package may be another copy than the command's.
  const served = apps as unknown as readonly ServedApp[];
  const named = served.map((app): [string, ServedApp] => [app.queue.graph || UNNAMED, app]);
  const twice = named.find(([name], at) => named.findIndex(([other]) => other === name) !== at);
  if (twice !== undefined)
    throw usageError(
      `Two apps of ${file} are called ${twice[0]}.`,
      "Give each a name of its own: durable(graph, { file, name: 'agent' }).",
    );
  const place = runs === null ? await placeOf(served, session) : { runs };
  return { apps: Object.fromEntries(named), runs, place, notTaken: [], unrecorded: [] };
}

/** `null` for apps in several files, or in memory. */
async function placeOf(apps: readonly ServedApp[], session: Session): Promise<PagePlace | null> {
  const files = [...new Set(apps.map(({ file }) => (typeof file === 'string' ? path.resolve(file) : null)))];
  const [file] = files;
  if (files.length !== 1 || file === null || file === undefined) return null;
  return openPagePlace(file, { ...session, cluster: null });
}
