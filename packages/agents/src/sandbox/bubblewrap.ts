import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Confinement, Sandbox } from './Sandbox.ts';
import { isInside, realPaths, systemFolders } from './systemFolders.ts';
import { toolchain } from './toolchain.ts';

export interface BubblewrapOptions {
  /** The project folder. Commands see only the workspace of their run in it. */
  readonly project: string;
  /** Paths of a home or the project that commands can read: a toolchain, a cache. @defaultValue none */
  readonly readable?: readonly string[];
}

/** Empty, and the command's own. */
const TEMPORARY = ['/run', '/tmp', '/var/tmp'] as const;

/** Where homes, data, sockets and settings are: no folder that holds one of these is shown. */
const PRIVATE = [
  '/home',
  '/media',
  '/mnt',
  '/opt',
  '/root',
  '/srv',
  '/var',
  '/var/lib',
  '/var/log',
  ...TEMPORARY,
] as const;

/** Namespaces of its own, no capability, and no process of it outlives the engine. */
const ISOLATE = ['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'] as const;

/** The settings of the kernel are files of root's, and a driver may be root: no namespace guards them. */
const KERNEL = [
  ...['--dev', '/dev', '--proc', '/proc'],
  ...['/proc/sys', '/proc/sysrq-trigger'].flatMap((path) => ['--ro-bind-try', path, path]),
] as const;

/** Enough to find out whether this machine lets bubblewrap run at all. */
export const BUBBLEWRAP_PROBE: readonly string[] = [
  'bwrap',
  ...ISOLATE,
  ...systemFolders(),
  ...KERNEL,
  ...['--', 'true'],
];

/**
 * Returns the built-in sandbox of Linux: bubblewrap.
 *
 * A command starts with an empty root. It can read the system's programs, some of its settings, the programs of the
 * `PATH`, and the readable paths. It can write to its workspace and its scratch folder. It cannot see homes, data
 * (`/srv`, `/opt`, `/var`), the project folder (state file, git dirs, other runs, the user's checkout), other
 * processes, sockets of services or, unless enabled, a network.
 *
 * Order matters: later mounts cover earlier ones. `.devs` is covered after everything readable, so a list cannot expose
 * it.
 */
export function bubblewrap({ project, readable = [] }: BubblewrapOptions): Sandbox {
  const { folders, variables, isShown } = toolchain(
    realPaths([...PRIVATE, homedir()]),
    realpathSync(project),
  );
  return {
    name: 'bwrap',
    hasWritable: true,
    prefix: (confinement) => [
      'bwrap',
      ...ISOLATE,
      ...(confinement.network ? ['--share-net'] : []),
      ...systemFolders(),
      ...KERNEL,
      ...hidden([...TEMPORARY, homedir(), project]),
      ...readOnlyBinds(folders),
      ...coveredIn(folders, project),
      ...readOnlyBinds([...readable, ...realPaths(confinement.readable ?? []).filter(isShown)]),
      ...engineFolders(project),
      ...writable(confinement),
      ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--remount-ro', '/'],
      ...['--chdir', realpathSync(confinement.dir), '--'],
    ],
  };
}

/** A project or a home may lie in what is shown, `/usr/src` for one. */
function hidden(paths: readonly string[]): readonly string[] {
  return realPaths(paths)
    .filter((path) => path !== '/')
    .flatMap((path) => ['--tmpfs', path]);
}

/** A folder of the `PATH` may hold the project: its programs are shown, the project is not. */
function coveredIn(folders: readonly string[], project: string): readonly string[] {
  const real = realpathSync(project);
  return folders.some((folder) => isInside(real, folder)) ? ['--tmpfs', real] : [];
}

function readOnlyBinds(paths: readonly string[]): readonly string[] {
  return realPaths(paths).flatMap((path) => ['--ro-bind', path, path]);
}

function engineFolders(project: string): readonly string[] {
  const folder = realpathSync(project);
  return ['.devs', '.devs-work'].flatMap((name) => ['--tmpfs', join(folder, name)]);
}

function writable({ workspace, scratch, writable: more = [] }: Confinement): readonly string[] {
  return [workspace, scratch, ...more]
    .map((path) => realpathSync(path))
    .flatMap((path) => ['--bind', path, path]);
}
