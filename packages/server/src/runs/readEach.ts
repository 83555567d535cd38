/**
 * Yields the events of a source, and `quiet` where it is silent for a while.
 *
 * @param quietMs - How long it may be silent, asked each time.
 */
export async function* readEach<Event>(
  source: AsyncGenerator<Event, void>,
  quietMs: () => number,
): AsyncGenerator<Event | 'quiet', void> {
  let next = source.next();
  for (;;) {
    const found = await within(next, quietMs());
    if (found === 'quiet') yield found;
    else if (found.done === true) return;
    else {
      next = source.next();
      yield found.value;
    }
  }
}

/** The value, if it comes within so many milliseconds. */
async function within<T>(coming: Promise<T>, ms: number): Promise<T | 'quiet'> {
  let timer: NodeJS.Timeout | undefined;
  const quiet = new Promise<'quiet'>((resolve) => {
    timer = setTimeout(() => resolve('quiet'), ms);
  });
  try {
    return await Promise.race([coming, quiet]);
  } finally {
    clearTimeout(timer);
  }
}
