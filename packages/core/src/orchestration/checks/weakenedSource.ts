import { type FileVersions, linesOnlyIn } from './FileVersions.ts';
import { countAsserts } from './readCases.ts';
import { withoutComments } from './readCode.ts';

/** A whole file that no linter or compiler judges any more. */
const UNJUDGED =
  /^\/\*\s*eslint-disable\s*\*\/|^\/\/\s*@ts-nocheck|biome-ignore-all|^\/\*\s*oxlint-disable\s*\*\/|^#\s*(?:flake8|ruff):\s*noqa|^#\s*mypy:\s*ignore-errors|^#\s*pylint:\s*(?:disable=all|skip-file)|^\/\*\s*(?:istanbul|c8|v8) ignore file|^\/\/\s*nolint$|^#!\[allow\(/;
/** Code that asks whether it is being tested. */
const ASKS = /\b(?:VITEST(?:_WORKER_ID)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|PYTEST_CURRENT_TEST|AVA_PATH)\b/;
/** In a test or what it loads: ends well whatever was found, or puts something else in the place of what judges. */
const SABOTAGES =
  /\bprocess\.(?:reallyE|e)xit\s*\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|\bos\._exit\s*\(\s*0|\bsys\.exit\s*\(\s*0?\s*\)|\bos\.Exit\s*\(\s*0|\b(?:globalThis|global)\.(?:it|test|describe|expect|assert)\s*=[^=]|^(?:assert|expect)(?:\.\w+)?\s*=[^=]|\b(?:mock|spyOn)\w*\s*\(\s*assert\b|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|ok)\s*=[^=]/;
const SWALLOWED =
  /\btry\s*\{(?<tried>[\s\S]*?)\}\s*catch\s*(?:\([^)]*\)\s*)?\{\s*\}|\btry:\s*\n(?<block>(?:[^\S\n]+[^\n]*\n)+?)\s*except[^\n]*:\s*(?:\n\s*)?pass\b/g;

/** What a source keeps from being judged. @param isTest - Whether it is a test, or is loaded by tests. */
export function weakenedSource(file: FileVersions, isTest: boolean): readonly string[] {
  const { path, before, after } = file;
  if (after === null) return [];
  const plain = { before: stripped(path, before), after: withoutComments(path, after) };
  const added = linesOnlyIn(plain.after, plain.before);
  const comments = linesOnlyIn(after, before);
  const asks = isTest ? SABOTAGES : ASKS;
  return [
    ...comments.filter((line) => UNJUDGED.test(line)).map((line) => `now says ${line}`),
    ...added.filter((line) => asks.test(line)).map((line) => `now says ${line.slice(0, 100)}`),
    ...(isTest && swallowed(path, plain.after) > swallowed(path, plain.before ?? '')
      ? ['an assertion that fails is caught and dropped']
      : []),
  ];
}

const stripped = (path: string, text: string | null): string | null =>
  text === null ? null : withoutComments(path, text);

function swallowed(path: string, text: string): number {
  const tried = [...text.matchAll(SWALLOWED)].map(
    ({ groups }) => groups?.['tried'] ?? groups?.['block'] ?? '',
  );
  return tried.filter((body) => countAsserts(path, body).asserts > 0).length;
}
