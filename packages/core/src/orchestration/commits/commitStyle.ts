// Reads the style of a repository's commits from its last ones, and from the configuration of commitlint.

export interface CommitStyle {
  /** `fix(parser): …`, or a sentence. */
  readonly form: 'conventional' | 'sentence';
  /** Of conventional commits, the usual first. */
  readonly types: readonly string[];
  /** Known scopes; empty if most commits lack one. */
  readonly scopes: readonly string[];
  /** Whether other scopes are refused. */
  readonly scopesAreClosed: boolean;
  /** Characters of the first line. */
  readonly maxSubject: number;
  /** Characters of a line of the body. */
  readonly maxLine: number;
  /** Whether the text begins with a capital letter; `null` where both are usual. */
  readonly capital: boolean | null;
  /** Names of trailers that most commits end with. */
  readonly trailers: readonly string[];
}

const CONVENTIONAL = /^(?<type>[a-z]+)(?:\((?<scope>[^()]+)\))?!?: (?<text>\S.*)$/;
const TRAILER = /^([A-Z][A-Za-z-]*[a-z]): \S/;

/** Trailers of a person's signature, and the engine's own. */
const NOT_OURS = /^(?:Signed-off-by|Co-authored-by|Change-Id|Reviewed-by|Devs-.*)$/;

/** Written by tools, not by people. */
const MADE = /^(?:Merge |Revert "|v?\d+\.\d+|Bump |chore\(release\)|Initial commit$)/;

const USUAL_TYPES = [
  'feat',
  'fix',
  'docs',
  'refactor',
  'test',
  'chore',
  'build',
  'ci',
  'perf',
  'style',
  'revert',
];
const DEFAULT_SUBJECT = 72;
const DEFAULT_LINE = 72;
/** Of commitlint's own rules. */
const COMMITLINT_SUBJECT = 100;

export interface StyleSources {
  /** Of the last commits, newest first. */
  readonly messages: readonly string[];
  /** The configuration of commitlint, in any form; `null` without one. */
  readonly commitlint: string | null;
}

/** The style of a repository; `null` without commits and configuration. */
export function readCommitStyle({ messages, commitlint }: StyleSources): CommitStyle | null {
  const written = messages.map((text) => text.trim()).filter((text) => text !== '' && !MADE.test(text));
  if (written.length === 0 && commitlint === null) return null;
  const subjects = written.map((text) => text.split('\n')[0] ?? '');
  const parts = subjects.flatMap(conventionalParts);
  const isConventional = commitlint !== null || isMost(parts.length, subjects.length);
  const rules = commitlint === null ? null : commitlintRules(commitlint);
  return {
    ...(isConventional ? conventionalStyle(parts, rules) : SENTENCES),
    scopesAreClosed: rules?.scopes !== undefined,
    maxSubject: rules?.maxSubject ?? usualLength(subjects),
    maxLine: rules === null ? DEFAULT_LINE : COMMITLINT_SUBJECT,
    capital: capitalOf(isConventional ? parts.map(({ text }) => text) : subjects),
    trailers: usualTrailers(written),
  };
}

type CommitForm = Pick<CommitStyle, 'form' | 'types' | 'scopes'>;

const SENTENCES: CommitForm = { form: 'sentence', types: [], scopes: [] };

function conventionalStyle(
  parts: readonly ConventionalParts[],
  rules: ReturnType<typeof commitlintRules> | null,
): CommitForm {
  const scoped = parts.flatMap(({ scope }) => scope ?? []);
  return {
    form: 'conventional',
    types: rules?.types ?? knownTypes(parts.map(({ type }) => type)),
    scopes: rules?.scopes ?? (isMost(scoped.length, parts.length) ? byFrequency(scoped) : []),
  };
}

interface ConventionalParts {
  readonly type: string;
  readonly scope: string | undefined;
  readonly text: string;
}

function conventionalParts(subject: string): readonly ConventionalParts[] {
  const { type, scope, text } = CONVENTIONAL.exec(subject)?.groups ?? {};
  return type === undefined || text === undefined ? [] : [{ type, scope, text }];
}

/** More than half of at least one. */
const isMost = (count: number, of: number): boolean => count > 0 && count * 2 > of;

function byFrequency(names: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/** Those in use, and the usual ones behind them. */
const knownTypes = (used: readonly string[]): readonly string[] => [
  ...new Set([...byFrequency(used), ...USUAL_TYPES]),
];

/** The length that nine of ten first lines keep to, between 72 and 100. */
function usualLength(subjects: readonly string[]): number {
  const lengths = subjects.map(({ length }) => length).sort((a, b) => a - b);
  const most = lengths[Math.floor(lengths.length * 0.9)] ?? 0;
  return Math.min(100, Math.max(DEFAULT_SUBJECT, most));
}

function capitalOf(texts: readonly string[]): boolean | null {
  const letters = texts.filter((text) => /^\p{L}/u.test(text));
  const capitals = letters.filter((text) => /^\p{Lu}/u.test(text)).length;
  if (letters.length === 0) return null;
  if (capitals * 5 >= letters.length * 4) return true;
  return capitals * 5 <= letters.length ? false : null;
}

function usualTrailers(messages: readonly string[]): readonly string[] {
  const found = messages.flatMap((message) => {
    const last = message.split(/\n\n+/).at(-1) ?? '';
    const names = last.split('\n').flatMap((line) => TRAILER.exec(line)?.[1] ?? []);
    return message.includes('\n\n') ? [...new Set(names)] : [];
  });
  return byFrequency(found.filter((name) => !NOT_OURS.test(name))).filter((name) =>
    isMost(found.filter((other) => other === name).length, messages.length),
  );
}

interface CommitlintRules {
  readonly types?: readonly string[];
  readonly scopes?: readonly string[];
  readonly maxSubject: number;
}

/** Files that commitlint reads, the first one that is there. */
export const COMMITLINT_FILES = [
  ...['.commitlintrc', '.commitlintrc.json', '.commitlintrc.yaml', '.commitlintrc.yml'],
  ...['.commitlintrc.js', '.commitlintrc.cjs', '.commitlintrc.mjs', '.commitlintrc.ts'],
  ...['commitlint.config.js', 'commitlint.config.cjs', 'commitlint.config.mjs', 'commitlint.config.ts'],
] as const;

/** Read as a text: a configuration that is a program is not run. */
function commitlintRules(text: string): CommitlintRules {
  const types = listAfter('type-enum', text);
  const scopes = listAfter('scope-enum', text);
  const [, length] = /header-max-length['"]?\s*:[\s\S]{0,60}?\b(\d{2,3})\b/.exec(text) ?? [];
  return {
    ...(types.length > 0 && { types }),
    ...(scopes.length > 0 && { scopes }),
    maxSubject: length === undefined ? COMMITLINT_SUBJECT : Number(length),
  };
}

/** The names in the list of a rule: `[2, 'always', ['feat', 'fix']]`, or the same as YAML. */
function listAfter(rule: string, text: string): readonly string[] {
  const start = text.search(new RegExp(String.raw`['"]?${rule}['"]?\s*:`));
  if (start === -1) return [];
  const rest = text.slice(start + rule.length);
  const next = rest.search(/['"]?[a-z]+(?:-[a-z]+)+['"]?\s*:/);
  const own = next === -1 ? rest : rest.slice(0, next);
  const isNever = /\bnever\b/.test(own);
  const names = own.match(/(?<=['"[,\s-])[a-z][\w./@-]*(?=['"\],\s]|$)/gi) ?? [];
  return isNever ? [] : [...new Set(names)].filter((name) => !/^(?:always|rules|enum)$/.test(name));
}

/** The style in words, for the author of a message. */
export function styleWords(style: CommitStyle): string {
  const { form, types, scopes, scopesAreClosed, maxSubject, maxLine, capital, trailers } = style;
  const start = capital === null ? '' : `, beginning with a ${capital ? 'capital' : 'small'} letter`;
  const scope = scopesAreClosed
    ? `with one of the scopes ${scopes.join(', ')}`
    : `usually with a scope such as ${scopes.slice(0, 8).join(', ')}`;
  return [
    form === 'conventional'
      ? `First line: a conventional commit, \`type: text\`${start}. Types: ${types.join(', ')}.`
      : `First line: a sentence without a prefix${start}.`,
    ...(scopes.length === 0 ? [] : [`It is \`type(scope): text\`, ${scope}.`]),
    `At most ${maxSubject} characters, no full stop at the end.`,
    `Then an empty line and a body that says why, in lines of at most ${maxLine} characters.`,
    ...(trailers.length === 0 ? [] : [`Commits here end with: ${trailers.join(', ')}.`]),
  ].join('\n');
}
