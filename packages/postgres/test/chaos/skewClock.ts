/** Has this process take the time for another one, by so many ms: as on a machine whose clock is wrong. */
export function skewClock(ms: number): void {
  if (ms === 0) return;
  const RealDate = Date;
  const now = (): number => RealDate.now() + ms;
  globalThis.Date = new Proxy(RealDate, {
    construct: (date, given: unknown[]) => Reflect.construct(date, given.length === 0 ? [now()] : given),
    get: (date, name) => (name === 'now' ? now : Reflect.get(date, name)),
  });
}
