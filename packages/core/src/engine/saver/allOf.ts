/** `Promise.all` that keeps nobody waiting when nothing has to be waited for. */
export function allOf<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
