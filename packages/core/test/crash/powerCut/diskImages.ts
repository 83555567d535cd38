import { writeFileSync } from 'node:fs';

/** What a process has done to files, in order. */
export type DiskAct =
  | { readonly kind: 'write'; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly to: number }
  | { readonly kind: 'flush'; readonly file: string };

const CALL = /^(\w+)\(\d+<([^>]*)>(?:, (?:"([^"]*)"|(\d+)))?(?:, (\d+))?(?:, (\d+))?\) += (\d+)$/;

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex');

/** What strace has seen; texts in it are hexadecimal. @throws Error for a call that it does not know. */
export function actsIn(trace: string): readonly DiskAct[] {
  const ends = new Map<string, number>();
  return trace
    .split('\n')
    .filter((line) => !/^$|^\+\+\+|^---/.test(line))
    .map((line) => {
      const [, call = '', name = '', text = '', to = '', , at] = CALL.exec(line) ?? [];
      const file = bytesOf(name).toString();
      if (call === 'fsync' || call === 'fdatasync') return { kind: 'flush', file };
      if (call === 'ftruncate') return { kind: 'truncate', file, to: Number(to) };
      if (call !== 'write' && call !== 'pwrite64') throw new Error(`Not understood: ${line.slice(0, 200)}`);
      const bytes = bytesOf(text);
      const end = ends.get(file) ?? 0;
      ends.set(file, end + bytes.length); // of a file that is only appended to
      return { kind: 'write', file, at: call === 'write' ? end : Number(at), bytes };
    });
}

/** A disk writes so many bytes as a whole. */
const SECTOR = 512;

/** What becomes of a sector that was not flushed. */
export type Fate = () => 'kept' | 'dropped';

/** A file as the disk has it when the power goes after these acts: what was flushed is there, of the rest some. */
export function imageOf(file: string, before: Buffer, acts: readonly DiskAct[], fate: Fate): Buffer {
  const own = acts.filter((act) => act.file === file);
  const flushed = own.findLastIndex(({ kind }) => kind === 'flush');
  const image = new Image(before, own);
  for (const [nth, act] of own.entries()) {
    const ofThis: Fate = nth < flushed ? () => 'kept' : fate;
    if (act.kind === 'write') image.write(act.at, act.bytes, ofThis);
    if (act.kind === 'truncate' && ofThis() === 'kept') image.truncate(act.to);
  }
  return image.bytes;
}

class Image {
  readonly #all: Buffer;
  #length: number;

  constructor(before: Buffer, acts: readonly DiskAct[]) {
    const ends = acts.map((act) =>
      act.kind === 'write' ? act.at + act.bytes.length : act.kind === 'truncate' ? act.to : 0,
    );
    this.#all = Buffer.alloc(ends.reduce((most, end) => Math.max(most, end), before.length));
    this.#length = before.copy(this.#all);
  }

  get bytes(): Buffer {
    return this.#all.subarray(0, this.#length);
  }

  truncate(to: number): void {
    this.#all.fill(0, to);
    this.#length = to;
  }

  write(at: number, bytes: Buffer, fate: Fate): void {
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + SECTOR - ((at + from) % SECTOR));
      if (fate() === 'kept') {
        bytes.copy(this.#all, at + from, from, to);
        this.#length = Math.max(this.#length, at + to);
      }
      from = to;
    }
  }
}

/** Lays the image of a state file out, with its log. */
export function layOut(path: string, [file, log]: readonly [file: Buffer, log: Buffer]): void {
  writeFileSync(path, file, { mode: 0o600 });
  writeFileSync(`${path}-wal`, log, { mode: 0o600 });
}
