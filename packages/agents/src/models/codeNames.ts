import { FILE_ENDS } from './fileKinds.ts';

/** Names of code in a text of prose. */
export interface Mentioned {
  /** Identifiers, in the order of the text. */
  readonly names: readonly string[];
  /** Files and folders, as they are written. */
  readonly paths: readonly string[];
}

const MAX_NAMES = 40;

const CODE = /```[^\n]*\n[\s\S]*?```|`[^`\n]+`/g;
const QUOTED = /"[^"\n]*"|'[^'\n]*'/g;
const PATH = new RegExp(
  String.raw`(?<![\w/.@-])(?:[\w@.-]+\/)+(?:[\w@.-]*[\w@-])?|(?<![\w/.@-])[\w@-]+(?:\.[\w-]+)*\.${FILE_ENDS}\b(?!\(|\.\w)`,
  'gi',
);
const WITH_END = new RegExp(String.raw`\.${FILE_ENDS}$`, 'i');
const WORD = /[\p{L}_$][\p{L}\p{N}_$]{2,}/gu;
/** In prose: two humps, an underscore, or a call. */
const NAME_IN_PROSE =
  /\b[\p{L}$]+(?:_[\p{L}\p{N}]+)+|\b\p{L}[\p{Ll}\p{N}]+\p{Lu}[\p{L}\p{N}]*|\b[\p{L}_$][\p{L}\p{N}_$]{2,}(?=\()/gu;

/** Words of languages and shells, which stand everywhere. */
const COMMON = new Set(
  'async await boolean class const default export extends false for from function import interface let new null number private public return self static string this true type undefined var void npm npx pnpm yarn run node'.split(
    ' ',
  ),
);

/** Identifiers and paths in a text such as the description of a task: words in backticks, and words that look like code. */
export function mentionedIn(text: string): Mentioned {
  const code = (text.match(CODE) ?? []).map((span) => span.replaceAll(QUOTED, ' '));
  const prose = text.replaceAll(CODE, ' ');
  const paths = [...code, prose].flatMap((part) => part.match(PATH) ?? []);
  const words = [
    ...code.flatMap((span) => span.replaceAll(PATH, wordsOfPath).match(WORD) ?? []),
    ...(prose.replaceAll(PATH, ' ').match(NAME_IN_PROSE) ?? []),
  ];
  return { names: uncommon(words), paths: [...new Set(paths)] };
}

/** A file is looked for by its path; `pkg/part` may be the name of a module. */
const wordsOfPath = (path: string): string => (WITH_END.test(path) ? ' ' : path);

const HUNK = /^@@ [^@]+ @@(.*)$/;
const DEFINED =
  /\b(?:function|class|interface|type|enum|struct|trait|module|namespace|def|fn|func|const|let|var|val)\s+\*?([\p{L}_$][\p{L}\p{N}_$]{2,})/u;
const MEMBER =
  /^\s+(?:async |static |get |set |readonly |public |private )*([\p{L}_$][\p{L}\p{N}_$]{2,})(?:\??:|\(.*\{\s*$)/u;

/**
 * Names that a diff changes: definitions in its changed lines, and those around its hunks.
 *
 * @param isAbout - Whether a file counts.
 */
export function changedNames(diff: string, isAbout: (path: string) => boolean): readonly string[] {
  const names: string[] = [];
  let isCounted = false;
  for (const line of diff.split('\n')) {
    const path = /^\+\+\+ b\/(.*)/.exec(line)?.[1];
    if (path !== undefined) isCounted = isAbout(path);
    else if (isCounted) names.push(...definedIn(line));
  }
  return uncommon(names);
}

/** The name that a line of a diff defines, or is inside of. */
function definedIn(line: string): readonly string[] {
  const text = HUNK.exec(line)?.[1] ?? (/^[+-](?!--)/.test(line) ? line.slice(1) : '');
  const name = DEFINED.exec(text)?.[1] ?? MEMBER.exec(text)?.[1];
  return name === undefined ? [] : [name];
}

const uncommon = (words: readonly string[]): readonly string[] =>
  [...new Set(words)].filter((word) => !COMMON.has(word)).slice(0, MAX_NAMES);
