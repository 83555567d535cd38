/** Where a token may begin. STRICT also excludes `_` and `-` before it: "task-…" is not "sk-…". */
export type Boundary = 'loose' | 'strict';

/** Heads are separated by spaces. */
export type TokenRow = readonly [name: string, boundary: Boundary, heads: string, tail: string];

export const UUID: string = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
export const END: string = '(?![A-Za-z0-9])';
/** Three digits among the first characters: no word and no name in code. */
export const MIXED: string = '(?=(?:[A-Za-z_+/-]{0,24}\\d){3})';

export interface TokenShape {
  readonly name: string;
  readonly boundary: Boundary;
  /** Literals; every token begins with one of them. */
  readonly heads: readonly string[];
  /** A pattern for the rest: bounded, or one run that consumes all it can. */
  readonly tail: string;
}

export const asShapes = (rows: readonly TokenRow[]): readonly TokenShape[] =>
  rows.map(([name, boundary, heads, tail]) => ({ name, boundary, heads: heads.split(' '), tail }));
