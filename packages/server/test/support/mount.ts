import { createElement } from 'react';
import { create } from 'react-test-renderer';
import { expect } from 'vitest';

declare global {
  /** What React and its renderer of tests ask for. */
  var IS_REACT_NATIVE_TEST_ENVIRONMENT: boolean | undefined;
}

/** A component that renders nothing but calls a hook. */
export interface Mounted<Value> {
  /** What the hook returned last. */
  readonly now: Value;
  /** Waits until what the hook returns fits. */
  until(fits: (value: Value) => boolean, what: string): Promise<Value>;
  unmount(): void;
}

/** Calls a hook of a stock client as a page would. */
export async function mount<Value>(useHook: () => Value): Promise<Mounted<Value>> {
  // Else the renderer prints that it is old.
  globalThis.IS_REACT_NATIVE_TEST_ENVIRONMENT = true;
  let value: { readonly now: Value } | undefined;
  const Page = () => {
    value = { now: useHook() };
    return null;
  };
  const page = create(createElement(Page));
  await expect.poll(() => value, { interval: 5 }).toBeDefined();
  const now = (): Value => {
    if (value === undefined) throw new Error('The hook has not been called.');
    return value.now;
  };
  return {
    get now() {
      return now();
    },
    until: async (fits, what) => {
      await expect.poll(() => fits(now()), { message: what, interval: 10 }).toBe(true);
      return now();
    },
    unmount: () => page.unmount(),
  };
}
