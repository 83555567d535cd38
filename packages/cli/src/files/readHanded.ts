import { constants } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds without a byte after which nobody is waited for any more. */
const PATIENCE_MS = 10_000;
const POLL_MS = 20;
const CHUNK_BYTES = 64 * 1024;
/** Bytes; what a person hands over is a thousandth of it. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The bytes of a file that a person names: a regular one, or a pipe such as the shell's `<(command)`. Opening a pipe
 * waits for its other end for ever; here that ends.
 *
 * @param patienceMs - Milliseconds that a pipe may be silent.
 * @throws Error of the file system, or saying that nobody wrote, or that it does not end.
 */
export async function readHanded(file: string, patienceMs = PATIENCE_MS): Promise<Buffer> {
  const found = await stat(file);
  if (found.isFile() || found.isDirectory()) return readFile(file);
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return await readPipe(handle, patienceMs);
  } finally {
    await handle.close();
  }
}

async function readPipe(handle: FileHandle, patienceMs: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let lastAt = performance.now();
  while (bytes <= MOST_BYTES) {
    const chunk = await readNow(handle);
    if (chunk !== null && chunk.length > 0) {
      chunks.push(chunk);
      bytes += chunk.length;
      lastAt = performance.now();
      continue;
    }
    const isAtEnd = chunk !== null && bytes > 0;
    if (isAtEnd) return Buffer.concat(chunks);
    if (performance.now() - lastAt > patienceMs)
      throw new Error(`no data on this pipe for ${patienceMs / 1000} s`);
    await sleep(POLL_MS);
  }
  throw new Error(`it is longer than ${MOST_BYTES} bytes`);
}

/** Empty where nobody has the other end open; `null` where somebody has and says nothing yet. */
async function readNow(handle: FileHandle): Promise<Buffer | null> {
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
    throw error;
  }
}

/**
 * The text of a file that a person hands over, without a byte order mark. What does not come back as it was written would
 * be approved as something else.
 *
 * @throws TypeError when it is not UTF-8, or holds the NUL of a binary file.
 */
export function decodeUtf8Text(bytes: Uint8Array): string {
  const text = decodeStrict(bytes);
  if (text.includes('\0')) throw new TypeError('it is a binary file');
  return text;
}

function decodeStrict(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new TypeError('it is not UTF-8 text', { cause: error });
  }
}
