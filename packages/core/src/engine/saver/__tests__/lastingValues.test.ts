import fc from 'fast-check';
import { expect, test } from 'vitest';
import { howMany } from '../../../../test/support/howMany.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { storeState } from '../../../state/journaledState.ts';
import { canonicalJson } from '../../../values/canonicalJson.ts';
import { makeLasting } from '../../../values/lasting.ts';
import { StrictSerde } from '../StrictSerde.ts';

/** Most of it is storable, and some is refused. */
const value = fc.anything({
  maxDepth: 4,
  withDate: true,
  withBigInt: true,
  withNullPrototype: true,
  values: [
    fc.constantFrom(undefined, null, -0, Number.NaN, 'plain', '\ud800'),
    fc.integer(),
    fc.string(),
    fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
  ],
});

/** The same value twice, and beside others in a list and an object, as what a step did not change is. */
const twice = fc
  .clone(fc.array(value, { maxLength: 4 }), 2)
  .map(([one = [], other = []]) => [inside(one), inside(other)] as const);

const inside = (items: readonly unknown[]) => ({ items, first: { of: items[0] } });

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return isDevsError(error) ? { code: error.code, message: error.message } : String(error);
  }
}

/** What is written of a value, and how it is refused. */
async function writtenOf(written: object): Promise<readonly unknown[]> {
  const dumped = await new StrictSerde().dumpsTyped(written).then(
    ([type, bytes]) => [type, Buffer.from(bytes).toString()],
    (error: unknown) => (isDevsError(error) ? [error.code, error.message] : [String(error)]),
  );
  return [
    dumped,
    outcomeOf(() => canonicalJson(written)),
    outcomeOf(() => storeState({ ...written }, false)),
  ];
}

test('a value is written and refused alike whether it can change or not', async () => {
  await fc.assert(
    fc.asyncProperty(twice, async ([one, other]) => {
      makeLasting(one.items);
      for (const item of one.items) makeLasting(item);
      const expected = await writtenOf(other);
      expect(await writtenOf(one)).toEqual(expected);
      makeLasting(one);
      expect(await writtenOf(one)).toEqual(expected);
      expect(await writtenOf(one), 'what was found out before').toEqual(expected);
    }),
    { numRuns: howMany('DEVS_LASTING_RUNS', 300) },
  );
});

test('what a list holds of lists is refused where it is too deep', async () => {
  const strict = new StrictSerde({ maxDepth: 3 });
  const deep = [[[['x']]]];
  expect(makeLasting(deep)).toBe(true);
  await expect(strict.dumpsTyped(deep)).rejects.toMatchObject({ code: 'VALUE_TOO_LARGE' });
  await expect(strict.dumpsTyped(deep[0])).resolves.toMatchObject(['plain', {}]);
});
