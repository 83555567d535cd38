import type { RunDriver } from '@devs/core';
import type { PostgresRuns } from '@devs/postgres';

/** What a worker drives, and where its runs are. */
export type ClusterApp = RunDriver & { readonly runs: PostgresRuns };

/**
 * The apps that a module exports whose runs are in a cluster: as `default`, `app` or `apps`, one or a list. Known by what they
 * have: the module's packages may be other copies than the command's.
 */
export function clusterAppsOf(module: Readonly<Record<string, unknown>>): readonly ClusterApp[] {
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
