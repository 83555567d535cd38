import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/** Of an entry in the second version of git's index: where its parts begin, bytes. */
const [SIZE, NAME] = [36, 62];
const [HEADER, HASH, ALIGNMENT] = [12, 20, 8];

/**
 * Lets an index forget what it knows of files that changed in a second or later, so that git reads these when it is asked next.
 *
 * Git compares the times of files by whole seconds. One that changed in the second in which it was looked at can change in
 * it once more, keep its size, and get an old time of modification from anybody: it would count as unchanged for ever. Nobody
 * sets the time of change that is looked at here, so what the index still knows afterwards it knows rightly.
 *
 * @param second - Whole, by the clock of the file system.
 * @throws RangeError for an index that the engine's git has not written.
 */
export async function forgetYoung(index: string, second: number): Promise<void> {
  const bytes = await readFile(index);
  const form = bytes.toString('latin1', 0, 4) + bytes.readUInt32BE(4);
  if (form !== 'DIRC2') throw new RangeError(`Expected an index of version 2, got ${JSON.stringify(form)}.`);
  const entries = bytes.readUInt32BE(8);
  let at = HEADER;
  for (let entry = 0; entry < entries; entry += 1) {
    // Git takes a size of nothing, where the file in the index has some, for a file that it has never looked at.
    if (bytes.readUInt32BE(at) >= second) bytes.writeUInt32BE(0, at + SIZE);
    const end = bytes.indexOf(0, at + NAME);
    at += (Math.floor((end - at) / ALIGNMENT) + 1) * ALIGNMENT;
  }
  const end = bytes.length - HASH;
  createHash('sha1').update(bytes.subarray(0, end)).digest().copy(bytes, end);
  await writeFile(index, bytes);
}
