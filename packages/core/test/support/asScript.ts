import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

interface Import {
  /** Of the statement, from `import` on, and of what it imports, without quotes. */
  readonly ss: number;
  readonly se: number;
  readonly s: number;
  readonly n: string | undefined;
  readonly d: number;
}

/** The part of es-module-lexer that is used. It is Vitest's own, and comes with it. */
interface Lexer {
  initSync(): void;
  parse(code: string): readonly [imports: readonly Import[], exports: readonly { readonly n: string }[]];
}

/** Where others have the place of `import` in an expression. */
const STATEMENT = -1;
const IMPORT = 'import';
const HASHBANG = /^#!.*/;
const CLAUSE = /^(?:([\w$]+)\s*,?)?\s*(?:\{(.*)\}|\*\s*as\s+([\w$]+))?\s*from\s*$/s;

/**
 * A bundled module as an expression: a function of what a module has of itself (`import`, `require`, its URL), and of the
 * name of the program that it is to be. V8 keeps what it has compiled of a script, and of a module only from Node.js 22 on.
 *
 * @param code - `import.meta.url` is `importMetaUrl` in it.
 * @returns All ASCII.
 * @throws RangeError for a module that exports something: nobody would get it.
 */
export function asScript(code: string): string {
  const [imports, exports] = lexer().parse(code);
  if (exports.length > 0)
    throw new RangeError(`The program exports ${exports.map(({ n }) => n).join(', ')}.`);
  let required = '';
  let rest = '';
  let end = HASHBANG.exec(code)?.[0].length ?? 0;
  for (const { ss, se, s, d, n = '' } of imports) {
    rest += code.slice(end, ss);
    if (d === STATEMENT) required += requiring(code.slice(ss, s - 1), n);
    else rest += 'importHere';
    end = d === STATEMENT ? se : ss + IMPORT.length;
  }
  return `(async (importHere, require, importMetaUrl, program) => {\n${escaped(required + rest + code.slice(end))}\n})`;
}

/** What esbuild leaves is in regular expressions, where an escape says the same. */
const escaped = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function requiring(statement: string, name: string): string {
  const required = `require(${JSON.stringify(name)});`;
  const [, whole, named, all] = CLAUSE.exec(statement.slice(IMPORT.length).trimStart()) ?? [];
  return [
    ...(whole === undefined ? [] : [`const ${whole} = ${required}`]),
    ...(all === undefined ? [] : [`const ${all} = ${required}`]),
    ...(named === undefined ? [] : [`const {${named.replaceAll(/\s+as\s+/g, ':')}} = ${required}`]),
    ...((whole ?? all ?? named) === undefined ? [required] : []),
    '\n',
  ].join('');
}

function lexer(): Lexer {
  const fromRoot = createRequire(fileURLToPath(new URL('../../../../package.json', import.meta.url)));
  const found = createRequire(fromRoot.resolve('vitest/package.json'))('es-module-lexer') as Lexer;
  found.initSync();
  return found;
}
