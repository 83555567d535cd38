import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Read by `scripts/hostileTable.mjs` from the JSON report. */
    tried?: Tried;
  }
}

/** What a test has tried that is more than one attack, counted while it ran. */
export interface Tried {
  readonly ways: number;
  /** Of those, how many succeed as *What stays open* in `docs/internals/security.md` says. @defaultValue 0 */
  readonly open?: number;
  /** Of those, how many succeeded and should not have. A failed test has at least one. @defaultValue 0 */
  readonly through?: number;
}

/** For `pnpm rig:hostile`: called before the test asserts. A test that does not call it has tried one way. */
export function tried({ meta }: TestContext['task'], counted: Tried): void {
  meta.tried = counted;
}
