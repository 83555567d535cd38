/** What a part of a graph comes to, or the reason of the signal as soon as it is aborted; the part may go on by itself. */
export async function raced<T>(part: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await part;
  let leave = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(reasonOf(signal));
  });
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([part, aborted]);
  } catch (error) {
    throw signal.aborted ? reasonOf(signal) : error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The same; a failure only after so many turns of the microtask queue, in which the signal may be aborted. */
export async function failingLate<T>(
  part: Promise<T>,
  turns: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await part;
  } catch (error) {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    throw signal?.aborted === true ? reasonOf(signal) : error;
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error(String(reason));
