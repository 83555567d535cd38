import type { FileVersions } from './FileVersions.ts';
import { weakenedLines } from './weakenedLines.ts';

const STRICT =
  /^(?:strict.*|alwaysStrict|noImplicit.*|noUnused.*|noUnchecked.*|noFallthrough.*|noPropertyAccess.*|exactOptional.*|useUnknown.*|isolated.*|erasableSyntaxOnly|verbatimModuleSyntax|checkJs|forceConsistentCasing.*)$/;
const LAX =
  /^(?:skipLibCheck|skipDefaultLibCheck|noCheck|suppress.*|allowUnreachableCode|allowUnusedLabels)$/;
const MADE = /\b(?:dist|build|coverage|node_modules|out|lib)\b/;

interface Config {
  readonly extends?: unknown;
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
  readonly include?: readonly string[];
  readonly files?: readonly string[];
  readonly exclude?: readonly string[];
}

/** What a `tsconfig.json` no longer asks; its other settings say what is built, not how strictly. */
export function weakenedTsConfig(file: FileVersions): readonly string[] {
  const old = parseTsConfig(file.before);
  const now = parseTsConfig(file.after);
  if (old === null) return [];
  if (now === null) return weakenedLines(file);
  const had = old.compilerOptions ?? {};
  const has = now.compilerOptions ?? {};
  return [
    ...Object.keys(had).filter(
      (key) => STRICT.test(key) && had[key] === true && has[key] !== true && !isImplied(key, has),
    ),
    ...Object.keys(has).filter((key) => LAX.test(key) && has[key] === true && had[key] !== true),
    ...Object.keys(has).filter((key) => STRICT.test(key) && has[key] === false && had[key] === undefined),
    ...itemsGone(old.include, now.include).map((glob) => `include ${glob}`),
    ...itemsGone(old.files, now.files).map((glob) => `files ${glob}`),
    ...itemsGone(now.exclude ?? [], old.exclude ?? [])
      .filter((glob) => !MADE.test(glob))
      .map((glob) => `exclude ${glob}`),
    ...(old.extends !== undefined && JSON.stringify(old.extends) !== JSON.stringify(now.extends)
      ? ['extends']
      : []),
  ].map((what) => `it is less strict: ${what}`);
}

/** `strict` contains what its name begins with. */
const isImplied = (key: string, has: Readonly<Record<string, unknown>>): boolean =>
  has['strict'] === true &&
  has[key] === undefined &&
  /^(?:strict.+|alwaysStrict|noImplicit(?:Any|This)|useUnknown.*)$/.test(key);

/** Of no list at all everything is in. */
function itemsGone(
  from: readonly string[] | undefined,
  to: readonly string[] | undefined,
): readonly string[] {
  if (from === undefined) return [];
  return to === undefined ? [] : from.filter((glob) => !to.includes(glob));
}

function parseTsConfig(text: string | null): Config | null {
  const plain = (text ?? '').replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, kept: string | undefined) => kept ?? '',
  );
  try {
    const value: unknown = JSON.parse(plain.replaceAll(/,(?=\s*[}\]])/g, ''));
    return typeof value === 'object' && value !== null ? (value as Config) : null;
  } catch {
    return null;
  }
}
