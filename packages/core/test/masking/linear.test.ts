import { expect, test } from 'vitest';
import { maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { ADVERSARIAL } from './adversarial.ts';

/** Characters. A rule that is worse than quadratic does not come back from them; `pnpm bench:masking` measures the rest at 1 MB. */
const SIZE = howMany('DEVS_WORST_TEXTS', 4_000);

test('comes back from the worst texts for every rule', {
  timeout: longer(60_000, (SIZE / 4_000) ** 2),
}, () => {
  for (const { of } of ADVERSARIAL) {
    expect(typeof maskSensitiveData(of(SIZE), new SecretRegistry())).toBe('string');
  }
});
