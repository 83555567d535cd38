import { appendFileSync, readFileSync } from 'node:fs';

/** What has happened outside of all databases, in its order: each line is appended to one file by whoever it happened to. */
export type Entry =
  | {
      /** A call is made. */
      readonly is: 'begun';
      /** Milliseconds since the Unix epoch. */
      readonly at: number;
      readonly pid: number;
      readonly run: string;
      readonly name: string;
      readonly nonce: string;
    }
  /** The process has a run from here, or finds that it has it no more. */
  | { readonly is: 'driving' | 'lost'; readonly pid: number; readonly run: string }
  /** After this the process may have lost a call in flight. */
  | { readonly is: 'killed' | 'frozen' | 'thawed'; readonly pid: number }
  | { readonly is: 'restarted' };

export const note = (file: string, entry: Entry): void => appendFileSync(file, `${JSON.stringify(entry)}\n`);

export const entriesOf = (file: string): readonly Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
