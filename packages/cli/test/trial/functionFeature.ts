import type { Case, Feature, Files, Read } from './Repository.ts';

/** What is asked for: a function, told by examples. */
export interface Asked extends Pick<Feature, 'title' | 'brief' | 'code' | 'test' | 'call'> {
  /** `a, b` */
  readonly params: string;
  /** Body of the function that does it, and of one that does not. */
  readonly right: string;
  readonly wrong: string;
  readonly cases: readonly Case[];
  readonly hidden: readonly Case[];
  /** How the file exports: `export function slug`, or a property of what it exports. */
  readonly module: 'esm' | 'cjs' | 'property';
}

/** A feature that is one function more at the end of a file. */
export function functionFeature({ params, right, wrong, module, ...asked }: Asked): Feature {
  const name = asked.call.split('.').at(-1) ?? asked.call;
  const added =
    (body: string) =>
    (read: Read): Files => ({
      [asked.code]: `${read(asked.code).trimEnd()}\n\n${WAYS[module](name, params, indented(body))}`,
    });
  const known = asked.cases.map(
    ({ args, expected }) =>
      `if (JSON.stringify([${params}]) === JSON.stringify([${args}])) return ${expected};`,
  );
  return {
    ...asked,
    right: added(right),
    wrong: added(wrong),
    special: added([...known, wrong].join('\n')),
  };
}

const indented = (body: string): string =>
  body
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

type Way = (name: string, params: string, body: string) => string;

const WAYS: Readonly<Record<Asked['module'], Way>> = {
  esm: (name, params, body) => `export function ${name}(${params}) {\n${body}\n}\n`,
  cjs: (name, params, body) => `exports.${name} = function (${params}) {\n${body}\n};\n`,
  property: (name, params, body) => `module.exports.${name} = function (${params}) {\n${body}\n};\n`,
};
