/** Where a token may begin. STRICT also excludes `_` and `-` before it: "task-…" is not "sk-…". */
export type Boundary = 'loose' | 'strict';

/** Heads are separated by spaces. */
export type TokenRow = readonly [name: string, boundary: Boundary, heads: string, tail: string];

export const UUID: string = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
export const END: string = '(?![A-Za-z0-9])';
/** Three digits among the first characters: no word and no name in code. */
export const MIXED: string = '(?=(?:[A-Za-z_+/-]{0,24}\\d){3})';
