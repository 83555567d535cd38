import { Transform } from 'node:stream';

const NEWLINE = 0x0a;

/**
 * Passes lines on as they come and drops those that are too long, so that what reads them never holds more than one line of
 * `most` bytes.
 *
 * @param onDropped - Called once for each line that was dropped, when that is known.
 */
export function shortLines(most: number, onDropped: () => void): Transform {
  let held: Buffer[] = [];
  let bytes = 0;
  let isDropping = false;

  /** A piece of a line, and whether the line ends with it. */
  const take = (piece: Buffer, isEnd: boolean, out: Transform): void => {
    bytes += piece.byteLength;
    if (!isDropping && bytes > most) {
      isDropping = true;
      held = [];
      onDropped();
    }
    if (!isDropping) held.push(piece);
    if (!isEnd) return;
    if (held.length > 0) out.push(Buffer.concat(held));
    held = [];
    bytes = 0;
    isDropping = false;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, at + 1), true, this);
        from = at + 1;
      }
      if (from < chunk.byteLength) take(chunk.subarray(from), false, this);
      done();
    },
  });
}
