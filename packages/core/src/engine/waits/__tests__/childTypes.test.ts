import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { type ChildResult, child } from '../../node/waitFor.ts';

// What is said here is said to the compiler.
describe('what children are given and give have types', () => {
  test('of their graphs', ({ db }) => {
    const app = durable(twoSteps(), { db });
    const use = async () => {
      const ended = await child(app, 'c', { log: ['x'] });
      expectTypeOf(ended.values?.log).toEqualTypeOf<readonly string[] | undefined>();
      expectTypeOf(ended.status).toEqualTypeOf<ChildResult<unknown>['status']>();
      // @ts-expect-error: the graph takes no such input
      await child(app, 'c', { log: 1 });
      // @ts-expect-error: a child has an input
      await child(app, 'c');
      const { children } = await app.run('r', {});
      expectTypeOf(children).toEqualTypeOf<readonly string[] | undefined>();
    };
    expect(use).toBeTypeOf('function');
  });
});
