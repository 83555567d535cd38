/** The way of what was committed to where it cannot be lost (law L11). */
export interface Outlet {
  /**
   * Whether all that is committed by now has arrived: `null` where it has, else a promise of it, that rejects where it never
   * will. A `null` costs whoever asks no turn of the event loop.
   *
   * @throws DevsError, by the promise: a fault of the engine, such as `LEASE_LOST`, which ends the drive.
   */
  arrived(): Promise<void> | null;
}

/** A local file: what is committed is there. */
export const HERE: Outlet = { arrived: () => null };

/** `value`, once all that it rests on has arrived. */
export async function afterArrival<T>(outlet: Outlet, value: T | Promise<T>): Promise<T> {
  const left = await value;
  await outlet.arrived();
  return left;
}
