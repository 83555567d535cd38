/** A file that differs between two commits and that git does not show as text: it is binary or contains a NUL byte. */
export interface UnshownFile {
  readonly path: string;
  /** `null` where the commit has no such file. */
  readonly before: FileContent | null;
  readonly after: FileContent | null;
}

export interface FileContent {
  readonly bytes: number;
  /** What `git hash-object` prints for it. */
  readonly blob: string;
}
