import type { DiffFile } from './diffLines.ts';

/** Lines of a file from which it is folded. */
const LARGE = 400;

/** Written by programs, and rarely read line by line. */
const GENERATED =
  /(^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|[\w-]+\.lock|go\.sum)$|\.min\.(?:js|css)$|\.map$|(^|\/)(?:dist|vendor|generated|__snapshots__)\//;

/** Why a file begins folded; `null` for one that does not. Pure. */
export function whyFolded({ path, lines }: Pick<DiffFile, 'path' | 'lines'>): string | null {
  if (GENERATED.test(path)) return 'generated';
  return lines.length > LARGE ? `${lines.length} lines` : null;
}
