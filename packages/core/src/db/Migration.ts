/** One numbered step of the schema's history. */
export interface Migration {
  /** Position in history, from 1. Also the file's numeric prefix. */
  readonly version: number;
  /** The file's name without `.sql`. */
  readonly name: string;
  /** Of the file's text, hex. Guards history against later edits. */
  readonly sha256: string;
  readonly sql: string;
}
