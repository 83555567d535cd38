import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import type { Confinement, Sandbox } from './Sandbox.ts';

export interface BubblewrapOptions {
  /** The project folder. Commands see nothing of it but the workspace of their run. */
  readonly project: string;
  /** What commands need to see of a home or the project, read-only: a toolchain, a cache. @defaultValue none */
  readonly readable?: readonly string[];
}

/** Homes, sockets of services (D-Bus, Docker, agents of ssh and gpg) and other programs' temporary files. */
const PRIVATE = ['/home', '/root', '/run', '/tmp', '/var/tmp'] as const;

/** Parts of `/run` a program cannot do without: NixOS keeps its programs there, systemd the name servers. */
const RUN_SYSTEM = ['/run/current-system', '/run/systemd/resolve'] as const;

/** Namespaces of its own, no capability, and no process of it outlives the engine. */
const ISOLATE = ['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'] as const;

/** Read-only. The settings of the kernel are files of root's, and a driver may be root: no namespace guards them. */
const SYSTEM = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...['/proc/sys', '/proc/sysrq-trigger'].flatMap((path) => ['--ro-bind-try', path, path]),
] as const;

/** Enough to find out whether this machine lets bubblewrap run at all. */
export const BUBBLEWRAP_PROBE: readonly string[] = [
  'bwrap',
  ...ISOLATE,
  ...SYSTEM,
  ...['--tmpfs', '/tmp'],
  ...['--', 'true'],
];

/**
 * The built-in sandbox of Linux: bubblewrap.
 *
 * A command sees the system read-only, its workspace and its scratch folder. It does not see homes, the project
 * folder (state file, git dirs, other runs, the user's checkout), other processes, sockets of services or, unless it
 * is given one, a network. Programs of the `PATH` that lie in a home stay visible.
 *
 * Order matters: what is mounted later covers what was mounted before. `.devs` is covered after everything readable,
 * so no list can bring it back.
 */
export function bubblewrap({ project, readable = [] }: BubblewrapOptions): Sandbox {
  return {
    name: 'bwrap',
    prefix: (confinement) => [
      'bwrap',
      ...ISOLATE,
      ...(confinement.network ? ['--share-net'] : []),
      ...SYSTEM,
      ...hidden([...PRIVATE, homedir(), project]),
      ...shown([...RUN_SYSTEM, ...toolchain(project), ...readable, ...(confinement.readable ?? [])]),
      ...engineFolders(project),
      ...writable(confinement),
      ...['--chdir', realpathSync(confinement.dir), '--'],
    ],
  };
}

function hidden(paths: readonly string[]): readonly string[] {
  return realPaths(paths).flatMap((path) => ['--tmpfs', path]);
}

function shown(paths: readonly string[]): readonly string[] {
  return realPaths(paths).flatMap((path) => ['--ro-bind', path, path]);
}

function engineFolders(project: string): readonly string[] {
  const folder = realpathSync(project);
  return ['.devs', '.devs-work'].flatMap((name) => ['--tmpfs', join(folder, name)]);
}

function writable({ workspace, scratch }: Confinement): readonly string[] {
  return [workspace, scratch].map((path) => realpathSync(path)).flatMap((path) => ['--bind', path, path]);
}

/** Node.js itself and the folders of the `PATH`: some lie in a home. None that would show a whole private folder. */
function toolchain(project: string): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  const covered = realPaths([...PRIVATE, homedir(), project]);
  return realPaths([...folders, dirname(dirname(process.execPath))]).filter(
    (folder) => !covered.some((path) => isInside(path, folder)),
  );
}

/** A folder is inside itself. */
const isInside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..');

/** Those that exist, without links, each once, an outer folder before an inner one. */
function realPaths(paths: readonly string[]): readonly string[] {
  const real = paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].sort((a, b) => a.length - b.length);
}
