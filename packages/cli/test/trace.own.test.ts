import { afterEach, describe, expect } from 'vitest';
import { Collector } from '../../core/test/support/Collector.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { finishedSum, waitingSum } from './support/sumProject.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

afterEach(() => {
  delete process.env[ENDPOINT];
});

interface Span {
  readonly name: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly isOpen: boolean;
}

describe('devs trace', () => {
  test('prints a run as a tree with durations', async ({ dir }) => {
    await finishedSum(dir);
    const { exitCode, stdout } = await callMain(dir, ['trace', 'sum']);
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +\d+(?:\.\d)?(?:ms|s|m) +invoke_workflow/);
    expect(lines[1]).toMatch(/ {3}(?:turn 1|invoke_agent)/);
    expect(lines.some((line) => / {5}node implement/.test(line))).toBe(true);
    expect(lines.some((line) => / {7}(?:step|chat) ?/.test(line))).toBe(true);
    expect(stdout).toMatch(/gate design_approval \(approved by policy:/);
  });

  test('prints what waits as open, and the spans as JSON', async ({ dir }) => {
    await waitingSum(dir);
    const text = await callMain(dir, ['trace', 'sum']);
    expect(text.stdout).toMatch(/gate design_approval \(open\)/);
    const { stdout } = await callMain(dir, ['trace', 'sum', '--json']);
    const spans = JSON.parse(stdout) as readonly Span[];
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.every(({ parentId }) => parentId === null || ids.has(parentId))).toBe(true);
    expect(spans.filter(({ isOpen }) => isOpen).map(({ name }) => name.split(' ')[0])).toContain('gate');
  });

  test('sends the spans that have ended', async ({ dir }) => {
    await finishedSum(dir);
    const collector = await Collector.start();
    process.env[ENDPOINT] = collector.url;
    const { exitCode, stdout, stderr } = await callMain(dir, ['trace', 'sum', '--export', '--json']);
    await collector.stop();
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: 'sum', exported: collector.spans.length });
    expect(collector.spans.some(({ parentSpanId }) => parentSpanId === '')).toBe(true);
  });

  test('of an unknown run is refused', async ({ dir }) => {
    await waitingSum(dir);
    expect(await callMain(dir, ['trace', 'nobody'])).toMatchObject({ exitCode: 4, stdout: '' });
  });
});
