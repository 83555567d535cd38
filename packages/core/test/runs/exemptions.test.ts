import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const core = fileURLToPath(new URL('../..', import.meta.url));

/** Suites that go through `Runs`, by their path in the package, with their text. */
const suites: ReadonlyMap<string, string> = new Map(
  ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(core, folder), { recursive: true }).map((file) => `${folder}/${file}`),
    )
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => [path, readFileSync(join(core, path), 'utf8')] as const)
    .filter(([, text]) => /support\/runs\/(?:durable|orchestrator)\.ts'/.test(text)),
);

/** What a suite says of tests that do not, as `ofOneFile: plants rows`. */
const exemptionsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(ofOneFile|notThroughRuns)\('([^']+)'\)/g)].map(
    ([, marker, why]) => `${marker}: ${why}`,
  );

test('the suites of gates, guards, steps, rewinds and drives go through Runs', () => {
  expect([...suites.keys()].sort()).toMatchInlineSnapshot(`
    [
      "src/engine/drive/__tests__/drive.test.ts",
      "src/engine/drive/__tests__/inputsAndErrors.test.ts",
      "src/engine/drive/__tests__/interrupts.test.ts",
      "src/engine/drive/__tests__/invokeOptions.test.ts",
      "src/engine/drive/__tests__/lateCheckpoint.test.ts",
      "src/engine/drive/__tests__/neverWaits.test.ts",
      "src/engine/drive/__tests__/noProgress.test.ts",
      "src/engine/drive/__tests__/requests.test.ts",
      "src/engine/drive/__tests__/runFailed.test.ts",
      "src/engine/drive/__tests__/stopping.test.ts",
      "src/engine/drive/__tests__/waitUntilWoken.test.ts",
      "src/engine/gates/__tests__/deadlines.test.ts",
      "src/engine/guards/__tests__/budget.test.ts",
      "src/engine/guards/__tests__/guardEvents.test.ts",
      "src/engine/node/__tests__/entrypointRuns.test.ts",
      "src/engine/node/__tests__/innerSteps.test.ts",
      "src/engine/node/__tests__/recordedTasks.test.ts",
      "src/engine/node/__tests__/step.test.ts",
      "src/engine/transfer/__tests__/exportThread.test.ts",
      "src/engine/transfer/__tests__/importThread.test.ts",
      "src/surface/__tests__/rewind.test.ts",
      "test/crash/diesAtWrites.test.ts",
      "test/drive/countersOverKills.test.ts",
      "test/drive/wakes.test.ts",
      "test/gates/borrowedLease.test.ts",
      "test/gates/bypasses.test.ts",
      "test/gates/changedGraph.test.ts",
      "test/gates/changedSinceShown.test.ts",
      "test/gates/commentedGates.test.ts",
      "test/gates/conditionalGates.test.ts",
      "test/gates/editedGates.test.ts",
      "test/gates/forgedDecisions.test.ts",
      "test/gates/hiddenAtGate.own.test.ts",
      "test/gates/innerGates.test.ts",
      "test/gates/interruptInLoop.test.ts",
      "test/gates/toolCallGates.test.ts",
      "test/gates/typedAnswers.test.ts",
      "test/gates/votes.test.ts",
    ]
  `);
});

test('a test that does not says why, and there are no more of them', () => {
  const found = [...suites].flatMap(([path, text]) => exemptionsIn(text).map((why) => `${path} ${why}`));
  expect(found.sort()).toMatchInlineSnapshot(`
    [
      "src/engine/drive/__tests__/drive.test.ts notThroughRuns: asks another method",
      "src/engine/drive/__tests__/drive.test.ts notThroughRuns: watches its own store",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: plants rows",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: plants rows",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: plants rows",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/drive.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/lateCheckpoint.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/neverWaits.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/neverWaits.test.ts ofOneFile: watches the connection",
      "src/engine/drive/__tests__/requests.test.ts notThroughRuns: watches its own store",
      "src/engine/drive/__tests__/requests.test.ts ofOneFile: plants rows",
      "src/engine/drive/__tests__/runFailed.test.ts ofOneFile: plants rows",
      "src/engine/drive/__tests__/stopping.test.ts notThroughRuns: asks another method",
      "src/engine/drive/__tests__/stopping.test.ts notThroughRuns: asks another method",
      "src/engine/drive/__tests__/stopping.test.ts notThroughRuns: watches its own store",
      "src/engine/drive/__tests__/stopping.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/stopping.test.ts ofOneFile: shares the file",
      "src/engine/drive/__tests__/waitUntilWoken.test.ts ofOneFile: shares the file",
      "src/engine/gates/__tests__/deadlines.test.ts notThroughRuns: asks another method",
      "src/engine/gates/__tests__/deadlines.test.ts notThroughRuns: watches its own store",
      "src/engine/gates/__tests__/deadlines.test.ts notThroughRuns: watches its own store",
      "src/engine/guards/__tests__/budget.test.ts notThroughRuns: asks another method",
      "src/engine/guards/__tests__/budget.test.ts notThroughRuns: watches its own store",
      "src/engine/node/__tests__/entrypointRuns.test.ts notThroughRuns: asks another method",
      "src/engine/node/__tests__/entrypointRuns.test.ts notThroughRuns: asks another method",
      "src/engine/node/__tests__/entrypointRuns.test.ts notThroughRuns: asks another method",
      "src/engine/node/__tests__/entrypointRuns.test.ts notThroughRuns: asks another method",
      "src/engine/node/__tests__/recordedTasks.test.ts notThroughRuns: asks another method",
      "src/engine/node/__tests__/recordedTasks.test.ts notThroughRuns: asks another method",
      "src/engine/transfer/__tests__/importThread.test.ts notThroughRuns: watches its own store",
      "src/engine/transfer/__tests__/importThread.test.ts ofOneFile: shares the file",
      "src/surface/__tests__/rewind.test.ts notThroughRuns: asks another method",
      "test/crash/diesAtWrites.test.ts notThroughRuns: asks another method",
      "test/crash/diesAtWrites.test.ts ofOneFile: dies at a write",
      "test/drive/wakes.test.ts ofOneFile: watches the connection",
      "test/gates/borrowedLease.test.ts notThroughRuns: calls the graph",
      "test/gates/borrowedLease.test.ts notThroughRuns: calls the graph",
      "test/gates/bypasses.test.ts notThroughRuns: asks another method",
      "test/gates/bypasses.test.ts notThroughRuns: asks another method",
      "test/gates/bypasses.test.ts notThroughRuns: calls the graph",
      "test/gates/forgedDecisions.test.ts ofOneFile: plants rows",
      "test/gates/forgedDecisions.test.ts ofOneFile: plants rows",
      "test/gates/votes.test.ts notThroughRuns: asks another method",
      "test/gates/votes.test.ts notThroughRuns: asks another method",
      "test/gates/votes.test.ts ofOneFile: plants rows",
    ]
  `);
});
