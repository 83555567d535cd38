import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { installFolder } from '../process/findProgram.ts';
import { isInside, isOfTheSystem, realPaths } from './systemFolders.ts';

/** A program in a folder of this name has what it consists of beside that folder. */
const BIN = new Set(['bin', 'sbin']);

/** So deep below a home a folder is an installation, and not one that holds other things of its owner too. */
const DEEP = 3;

/**
 * Version managers: below a home, what their shims need to see, and the variable that tells a shim where that is, since the
 * command's home is another one. They hold tools and nothing of their owner's.
 */
const MANAGERS: readonly (readonly [folder: string, variable: string])[] = [
  ['.asdf', 'ASDF_DATA_DIR'],
  ['.cache/node/corepack', 'COREPACK_HOME'],
  ['.local/share/mise', 'MISE_DATA_DIR'],
  ['.pyenv', 'PYENV_ROOT'],
  ['.rbenv', 'RBENV_ROOT'],
  ['.rustup', 'RUSTUP_HOME'],
  ['.volta', 'VOLTA_HOME'],
];

/** A folder with one of these is somebody's work, whatever `bin` it has. */
const OF_A_PROJECT = ['.git', '.devs'] as const;

/** No programs are here, whatever leads there: settings, devices, sockets. */
const NO_PROGRAMS = ['/dev', '/etc', '/proc', '/run', '/sys'] as const;

/** Programs outside of the system that a command finds on the `PATH`. */
export interface Toolchain {
  /** Folders it has to see, real paths. */
  readonly folders: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Whether a folder may be shown because a program lies there. */
  readonly isShown: (folder: string) => boolean;
}

/**
 * What the `PATH` leads to, links and shims followed, and the Node.js that runs this. The `PATH` inside begins with that one,
 * so a shim of a version manager decides nothing.
 *
 * @param hidden - Real paths. No folder that holds one of them is shown.
 * @param project - Whoever shows a folder of the `PATH` that holds it has to cover it there.
 */
export function toolchain(hidden: readonly string[], project: string): Toolchain {
  const onPath = foldersOnPath();
  const node = dirname(realpathSync(process.execPath));
  const managers = MANAGERS.map(([folder, variable]) => [variable, join(homedir(), folder)] as const).filter(
    ([, folder]) => existsSync(folder),
  );
  const isShown = (folder: string): boolean =>
    !hidden.some((path) => isInside(path, folder)) && !NO_PROGRAMS.some((path) => isInside(folder, path));
  const isWhole = (folder: string): boolean => isShown(folder) && !isInside(project, folder);
  const programs = [node, ...onPath, ...onPath.flatMap(linkedFrom)];
  const folders = [
    ...programs.map((folder) => wholeFolder(folder, isWhole)),
    ...managers.map(([, folder]) => folder),
  ];
  return {
    isShown: isWhole,
    folders: outermostFolders(
      realPaths(folders.filter((folder) => !isOfTheSystem(folder) && isShown(folder) && folder !== project)),
    ),
    variables: { ...Object.fromEntries(managers), PATH: [...new Set([node, ...onPath])].join(delimiter) },
  };
}

/** In their order, which says which program of a name is meant; links followed. */
function foldersOnPath(): readonly string[] {
  const named = (process.env['PATH'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  return named.filter((path) => existsSync(path)).map((path) => realpathSync(path));
}

/** An outer folder comes first, and shows what is in it. */
const outermostFolders = (folders: readonly string[]): readonly string[] =>
  folders.filter((folder, index) => !folders.slice(0, index).some((outer) => isInside(folder, outer)));

/** A program in `bin` needs what lies beside it, where nothing of its owner does. */
function wholeFolder(folder: string, isWhole: (folder: string) => boolean): string {
  const whole = dirname(folder);
  return BIN.has(basename(folder)) && isWhole(whole) && isInstallation(whole) ? whole : folder;
}

function isInstallation(folder: string): boolean {
  if (OF_A_PROJECT.some((name) => existsSync(join(folder, name)))) return false;
  const home = [homedir(), '/root', ...(/^\/home\/[^/]+/.exec(folder) ?? [])].find((path) =>
    isInside(folder, path),
  );
  return relative(home ?? '/', folder).split(sep).length >= (home === undefined ? 2 : DEEP);
}

/** Where the links in a folder of the `PATH` lead: folders of programs. */
function linkedFrom(folder: string): readonly string[] {
  try {
    const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    return [...new Set(links.flatMap(({ name }) => targetOf(join(folder, name))))];
  } catch {
    return [];
  }
}

function targetOf(link: string): readonly string[] {
  try {
    const real = realpathSync(link);
    return isOfTheSystem(real) || !statSync(real).isFile() ? [] : [installFolder(real)];
  } catch {
    return []; // it leads nowhere
  }
}
