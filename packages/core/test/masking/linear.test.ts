import { expect, test } from 'vitest';
import { maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';
import { ADVERSARIAL } from './adversarial.ts';

/** A rule that is quadratic in it takes seconds at this length, and there are thousands of texts. */
const SIZE = 12_000;

test('comes back from the worst texts for every rule', { timeout: 120_000 }, () => {
  for (const { of } of ADVERSARIAL) {
    expect(typeof maskSensitiveData(of(SIZE), new SecretRegistry())).toBe('string');
  }
});
