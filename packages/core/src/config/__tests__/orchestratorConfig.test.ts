import { describe, expect, test, vi } from 'vitest';
import { isDevsError } from '../../errors/DevsError.ts';
import {
  HITL_ENTROPY_THRESHOLD,
  loadOrchestratorConfig,
  MAX_RECURSION_DEPTH,
} from '../orchestratorConfig.ts';

function load(env: Record<string, string>) {
  const warnings: string[] = [];
  const config = loadOrchestratorConfig(env, (message) => warnings.push(message));
  return { config, warnings };
}

const DEFAULTS = { maxRecursionDepth: 25, hitlEntropyThreshold: 0.75, busyTimeoutMs: 30_000 };

describe('loadOrchestratorConfig', () => {
  test('has its defaults without variables', () => {
    expect(load({}).config).toEqual(DEFAULTS);
    expect([MAX_RECURSION_DEPTH, HITL_ENTROPY_THRESHOLD]).toEqual([25, 0.75]);
  });

  test.each(['', ' ', '\t'])('a variable set to %j is unset', (blank) => {
    const { config, warnings } = load({
      DEVS_MAX_RECURSION_DEPTH: blank,
      DEVS_HITL_ENTROPY_THRESHOLD: blank,
      DEVS_BUSY_TIMEOUT_MS: blank,
    });
    expect(config).toEqual(DEFAULTS);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['5', 5],
    ['100', 100],
    [' 30 ', 30],
    ['1e1', 10],
  ])('takes a depth of %j', (raw, depth) => {
    expect(load({ DEVS_MAX_RECURSION_DEPTH: raw }).config.maxRecursionDepth).toBe(depth);
  });

  test.each(['4', '101', '0', '-5', '25.5', 'NaN', 'Infinity', '25x', 'many'])(
    'a depth of %j stops the start and says what to do',
    (raw) => {
      try {
        load({ DEVS_MAX_RECURSION_DEPTH: raw });
        expect.unreachable();
      } catch (error) {
        expect(isDevsError(error, 'CONFIG_INVALID')).toBe(true);
        expect(error).toHaveProperty('message', expect.stringContaining(raw));
        expect(error).toHaveProperty('remedy', expect.stringContaining('from 5 to 100'));
      }
    },
  );

  test.each(['4999', '-1', '5000.5', 'Infinity', '5s'])('a wait of %j stops the start', (raw) => {
    expect(() => load({ DEVS_BUSY_TIMEOUT_MS: raw })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(raw) }),
    );
    expect(load({ DEVS_BUSY_TIMEOUT_MS: '60000' }).config.busyTimeoutMs).toBe(60_000);
  });

  test.each([
    ['0', 0],
    ['1', 1],
    ['0.5', 0.5],
    ['.9', 0.9],
  ])('takes an entropy threshold of %j', (raw, threshold) => {
    const { config, warnings } = load({ DEVS_HITL_ENTROPY_THRESHOLD: raw });
    expect(config.hitlEntropyThreshold).toBe(threshold);
    expect(warnings).toEqual([]);
  });

  test.each(['-0.1', '1.1', 'high', 'NaN'])('an entropy threshold of %j is reported and replaced', (raw) => {
    const { config, warnings } = load({ DEVS_HITL_ENTROPY_THRESHOLD: raw });
    expect(config.hitlEntropyThreshold).toBe(HITL_ENTROPY_THRESHOLD);
    expect(warnings).toEqual([expect.stringContaining(raw)]);
  });

  test('reads the process environment when none is given', () => {
    vi.stubEnv('DEVS_MAX_RECURSION_DEPTH', '40');
    expect(loadOrchestratorConfig().maxRecursionDepth).toBe(40);
    vi.unstubAllEnvs();
  });

  test('cannot be changed afterwards', () => expect(Object.isFrozen(load({}).config)).toBe(true));
});
