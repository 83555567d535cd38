import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

/** Lines and names that are looked at. */
const MAX_LINES = 400;
const MAX_NAMES = 5;

/** Where a program reports a missing variable. */
const SAYS_MISSING =
  /\b(?:missing|required|requires|undefined|unset|not (?:set|defined|provided|configured|found)|must (?:be )?(?:set|provided|defined)|please set|KeyError|environment variables?|env var)\b/i;

/** A variable where it is read, or a name in capitals of at least two words. */
const READ_FROM =
  /(?:process\.env\.|import\.meta\.env\.|os\.environ(?:\.get)?[[(]["']|env\(["'])([A-Za-z_]\w*)/g;
const IN_CAPITALS = /(?<![\w.$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w(])/g;

/** Codes of errors and of engines: not variables. */
const CODES =
  /^(?:ERR|E2E|NODE|UV|UNABLE|SELF|CERT|DEPTH|HTTP|TS|SQLITE|MODULE)_|_(?:NOT_FOUND|ERROR|FAILED|INVALID|EXPIRED|CHAIN|MISSING)$/;

/** A missing file, as systems and languages report it. */
const NO_FILE =
  /(?:ENOENT: no such file or directory, \w+|No such file or directory:|[Cc]annot (?:find|open|read)(?: the)? file:?|[Ff]ile not found:?) ?["'`]?([^\s"'`]+)/g;

/** Variables, and files by their path, that the output of a check reports as missing. */
export interface MissingNamed {
  readonly variables: readonly string[];
  readonly files: readonly string[];
}

export function missingNamed(output: string): MissingNamed {
  const lines = output.split('\n').slice(-MAX_LINES);
  const said = lines.filter((line) => SAYS_MISSING.test(line));
  const variables = said.flatMap((line) => [
    ...[...line.matchAll(READ_FROM)].map(([, name = '']) => name),
    ...[...line.matchAll(IN_CAPITALS)].map(([name]) => name),
  ]);
  const files = lines.flatMap((line) => [...line.matchAll(NO_FILE)].map(([, path = '']) => path));
  return {
    variables: [...new Set(variables)].filter((name) => !CODES.test(name)).slice(0, MAX_NAMES),
    files: [...new Set(files)].slice(0, MAX_NAMES),
  };
}

/** The settings that give a check the things that its output reports as missing, in lines; empty where it reports none. */
export function missingNamedLines(output: string): readonly Line[] {
  const { variables, files } = missingNamed(output);
  const ofVariables = files.filter((file) => /(?:^|\/)\.env(?:\.[\w.-]+)?$/.test(file));
  const others = files.filter((file) => !ofVariables.includes(file));
  const given = [
    ...(variables.length === 0
      ? []
      : [`  "passEnv": ${JSON.stringify(variables)}   variables of your environment`]),
    ...(variables.length === 0 && ofVariables.length === 0
      ? []
      : ['  "envFile": ".env"   a file of your checkout']),
  ];
  return [
    ...(given.length === 0
      ? []
      : [
          {
            style: 'bold',
            text: oneLine(
              `The output names ${[...variables, ...ofVariables].join(', ')}: checks get no variables of yours unless they are named.`,
            ),
          } as const,
          'If it is needed, add it to the check in .devs/config.json, then devs resume the run and choose again:',
          ...given.map(oneLine),
          '',
        ]),
    ...(others.length === 0
      ? []
      : [
          { style: 'bold', text: oneLine(`The output names missing files: ${others.join(', ')}`) } as const,
          'A run has what git has. Files that git ignores are made by a setup command: "setup" in .devs/config.json.',
          '',
        ]),
  ];
}
