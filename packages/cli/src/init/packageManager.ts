import { existsSync } from 'node:fs';
import path from 'node:path';
import type { PackageJson } from './packageJson.ts';

export type PackageManager = 'npm' | 'pnpm' | 'yarn';

const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/** The project's package manager: what `packageManager` names, else whose lockfile lies there, else npm. */
export function packageManagerOf(root: string, { packageManager = '' }: PackageJson): PackageManager {
  const [named] = packageManager.split('@');
  if (named === 'npm' || named === 'pnpm' || named === 'yarn') return named;
  const locked = LOCKFILES.find(([file]) => existsSync(path.join(root, file)));
  return locked?.[1] ?? 'npm';
}

/** Installs exactly what the lockfile names; without one there is nothing to be exact about. */
export function installCommand(root: string, manager: PackageManager): readonly string[] {
  const isLocked = LOCKFILES.some(([file, of]) => of === manager && existsSync(path.join(root, file)));
  if (!isLocked) return [manager, 'install'];
  switch (manager) {
    case 'npm':
      return ['npm', 'ci'];
    case 'pnpm':
      return ['pnpm', 'install', '--frozen-lockfile'];
    case 'yarn':
      return [
        'yarn',
        'install',
        existsSync(path.join(root, '.yarnrc.yml')) ? '--immutable' : '--frozen-lockfile',
      ];
  }
}
