import type { FileVersions } from './FileVersions.ts';
import { weakenedLines } from './weakenedLines.ts';

type ManifestJson = Readonly<Record<string, unknown>>;

/** Scripts that judge, beside those they call. */
const JUDGE = /^(?:pre|post)?(?:test|lint|type-?check|types|check|verify|ci|coverage|attw|tsd)(?::.*)?$/;
const CONFIGS = [
  'ava',
  'c8',
  'eslintConfig',
  'eslintIgnore',
  'jest',
  'mocha',
  'nyc',
  'prettier',
  'standard',
  'stylelint',
  'tap',
  'tsd',
  'vitest',
  'xo',
];
const RUNNERS =
  /^(?:ava|jasmine|jest|mocha|tap|tape|uvu|vitest|@jest\/.*|@vitest\/.*|@playwright\/test|cypress|chai|should|sinon|power-assert|xo|standard|eslint|@biomejs\/biome|oxlint|prettier|stylelint|typescript|tsd|@arethetypeswrong\/cli|c8|nyc)$/;
const ELSEWHERE = /^(?:file:|link:|portal:|workspace:|npm:|git|https?:|\.|\/)/;
const SWALLOWS =
  /\|\||;|\bexit\s+0\b|(?:^|&&)\s*true\b|\|\s*(?:cat|tee)\b|--(?:passWithNoTests|pass-with-no-tests|no-fail|exit-zero|update-?snapshots?|updateSnapshot|fix)\b|\s-u\b/;
const SABOTAGES = /\|\||;|\bexit\b|\brm\b|\bsed\b|\bmv\b|\bcp\b|\bgit\b/;
const PLACEHOLDER = /no test specified/;

/** What a `package.json` no longer asks of the work: scripts that judge, settings of runners, and the runners. */
export function weakenedManifest({ before, after }: FileVersions): readonly string[] {
  const old = parseManifest(before);
  const now = parseManifest(after);
  if (old === null) return [];
  if (now === null) return ['it can no longer be read'];
  return [...scripts(old, now), ...settings(old, now), ...replacedDependencies(old, now)];
}

function scripts(old: ManifestJson, now: ManifestJson): readonly string[] {
  const had = stringMembers(old['scripts']);
  const has = stringMembers(now['scripts']);
  const judges = judgesOf(had);
  const fresh = Object.keys(has).filter(
    (name) => /^(?:pre|post)/.test(name) && judges.has(name.replace(/^(?:pre|post)/, '')),
  );
  return [
    ...[...judges]
      .filter((name) => isWeaker(had[name] ?? '', has[name]))
      .map((name) => `its script "${name}" is another: ${has[name] ?? 'none'}`),
    ...fresh
      .filter((name) => had[name] === undefined && SABOTAGES.test(has[name] ?? ''))
      .map((name) => `it has a new script "${name}": ${has[name]}`),
  ];
}

/** The scripts that judge, and the scripts they run. */
function judgesOf(scripts: Readonly<Record<string, string>>): ReadonlySet<string> {
  const judges = new Set(Object.keys(scripts).filter((name) => JUDGE.test(name)));
  for (const name of judges) {
    const called = (scripts[name] ?? '').matchAll(
      /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+|-s\s+|run-script\s+)*([\w:.-]+)|\brun-[sp]\s+([\w:. -]+)/g,
    );
    const names = [...called].flatMap(([, one = '', several = '']) => [one, ...several.split(' ')]);
    for (const found of names) if (scripts[found] !== undefined) judges.add(found);
  }
  return judges;
}

/** A script may get longer; what it asked before it must ask still. */
function isWeaker(had: string, has: string | undefined): boolean {
  if (had === has || PLACEHOLDER.test(had)) return false;
  if (has === undefined) return true;
  const pieces = new Set(has.split('&&').map((piece) => piece.trim()));
  const keeps = had.split('&&').every((piece) => pieces.has(piece.trim()));
  const added = [...pieces].filter((piece) => !had.includes(piece)).join(' && ');
  return !keeps || SWALLOWS.test(added);
}

function settings(old: ManifestJson, now: ManifestJson): readonly string[] {
  return CONFIGS.flatMap((key) => {
    if (old[key] !== undefined && now[key] === undefined) return [`it has no settings of "${key}" any more`];
    return weakenedLines({ path: key, before: jsonOrNull(old[key]), after: jsonOrNull(now[key]) }).map(
      (words) => `${key}: ${words}`,
    );
  });
}

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

function replacedDependencies(old: ManifestJson, now: ManifestJson): readonly string[] {
  const had = allDependencies(old);
  return Object.entries(allDependencies(now))
    .filter(([name, version]) => RUNNERS.test(name) && ELSEWHERE.test(version) && had[name] !== version)
    .map(([name, version]) => `"${name}" is taken from ${version}`);
}

function allDependencies(manifest: ManifestJson): Readonly<Record<string, string>> {
  const keys = ['dependencies', 'devDependencies', 'overrides', 'resolutions'];
  return Object.assign({}, ...keys.map((key) => stringMembers(manifest[key])));
}

function stringMembers(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string'));
}

function parseManifest(text: string | null): ManifestJson | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as ManifestJson) : null;
  } catch {
    return null;
  }
}
