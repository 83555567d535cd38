import { hasScript, type PackageJson } from './packageJson.ts';
import type { PackageManager } from './packageManager.ts';

/** What a shell would do more with than start a program. */
const NEEDS_SHELL = /[|;<>$`"'\\*?~(){}[\]!#=]|&/;

export interface ScriptPiece {
  readonly name: string;
  readonly argv: readonly string[];
}

/**
 * The commands of a script such as `xo && ava && tsd`, each to be run by itself; `null` where they would not do the same:
 * a script with hooks around it, or one that needs a shell.
 */
export function scriptPieces(
  manifest: PackageJson,
  script: string,
  manager: PackageManager,
): readonly ScriptPiece[] | null {
  const text = manifest.scripts?.[script] ?? '';
  if (hasScript(manifest, `pre${script}`) || hasScript(manifest, `post${script}`)) return null;
  const pieces = text.split('&&').map((piece) => piece.trim());
  if (pieces.length < 2 || pieces.some((piece) => piece === '' || NEEDS_SHELL.test(piece))) return null;
  const words = pieces.map((piece) => piece.split(/\s+/));
  if (words.some(([program]) => program === 'cd' || program === 'export')) return null;
  const names = words.map(programName);
  return words.map((argv, at) => {
    const name = names[at] ?? '';
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    return { name: isTwice ? `${name} ${at + 1}` : name, argv: inPackage(argv, manager) };
  });
}

/** A script by its own name, another command by its program. */
function programName(words: readonly string[]): string {
  return words.find((word) => !/^(?:npm|pnpm|yarn|npx|run|run-script|exec)$/.test(word)) ?? '';
}

/** With the programs of the package on PATH, and nothing fetched. */
function inPackage(argv: readonly string[], manager: PackageManager): readonly string[] {
  const [program = ''] = argv;
  if (['npm', 'pnpm', 'yarn', 'node', 'npx'].includes(program)) return argv;
  if (manager === 'npm') return ['npm', 'exec', '--no', '--', ...argv];
  return [manager, 'exec', ...(manager === 'yarn' ? ['--'] : []), ...argv];
}
