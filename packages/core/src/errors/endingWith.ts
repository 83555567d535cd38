/** Does `work`, then `end`, whatever came of it; of two errors the first is the one that is thrown. */
export async function endingWith<T>(end: () => void, work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()]);
  try {
    end();
  } catch (error) {
    if (done.status === 'fulfilled') throw error;
  }
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}
