import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DetectedChecks } from './DetectedChecks.ts';

/** As make looks for them. */
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'] as const;

/** A rule: its targets, without assignments. */
const RULE = /^([A-Za-z0-9][\w.\- ]*?)\s*::?(?!=)/gm;

/** The targets of a Makefile that judge the work; `null` without one. */
export async function makeProject(root: string): Promise<DetectedChecks | null> {
  for (const name of MAKEFILES) {
    const text = await readFile(path.join(root, name), 'utf8').catch(() => null);
    if (text === null) continue;
    const targets = new Set([...text.matchAll(RULE)].flatMap(([, names = '']) => names.split(/\s+/)));
    const tests = ['test', 'tests', 'check'].find((target) => targets.has(target));
    const chosen = [tests, targets.has('lint') ? 'lint' : undefined].filter((target) => target !== undefined);
    return {
      checks: chosen.map((target) => ({ name: target, dir: '.', argv: ['make', target] })),
      hints: [],
    };
  }
  return null;
}
