// Flags that select runs by their labels, and flags that label a new run.

import type { Orchestrator } from '@devs/core';
import type { Command } from 'commander';
import { usageError } from '../usageError.ts';
import { collectValues } from './optionValues.ts';

/** The parsed flags of {@link withLabelFlags}. */
export interface LabelFlags {
  readonly metadata?: readonly string[];
  readonly tag?: readonly string[];
  readonly idPrefix?: string;
  readonly tenant?: string;
}

type LabelFilter = Pick<
  NonNullable<Parameters<Orchestrator['list']>[0]>,
  'metadata' | 'tags' | 'idPrefix' | 'tenant'
>;

export const withLabelFlags = (command: Command): Command =>
  command
    .option(
      '--metadata <key=value>',
      'only runs with this metadata; key:=json for a number, true, false or null; repeatable',
      collectValues,
    )
    .option('--tag <tag>', 'only runs with this tag; repeatable', collectValues)
    .option('--id-prefix <text>', 'only runs whose id begins with this text')
    .option('--tenant <name>', 'only runs of this tenant, in a cluster');

/** Labels of a new run. */
export const withNewLabelFlags = (command: Command): Command =>
  command
    .option(
      '--metadata <key=value>',
      'metadata to find the run; key:=json for a number, true, false or null; repeatable; recorded with the run',
      collectValues,
    )
    .option('--tag <tag>', 'tag to find the run; repeatable; recorded with the run', collectValues);

/** Empty without flags. @throws UsageError as {@link labelFilterOf}. */
export const newLabelsOf = ({
  metadata,
  tag,
}: Omit<LabelFlags, 'idPrefix' | 'tenant'>): Omit<LabelFilter, 'idPrefix' | 'tenant'> =>
  labelFilterOf({ ...(metadata && { metadata }), ...(tag && { tag }) }) ?? {};

/** `null` without flags. @throws UsageError for metadata without a key, or without a JSON scalar. */
export function labelFilterOf({ metadata = [], tag = [], idPrefix, tenant }: LabelFlags): LabelFilter | null {
  const isAny = metadata.length === 0 && tag.length === 0 && idPrefix === undefined && tenant === undefined;
  if (isAny) return null;
  return {
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata.map(memberOf)) }),
    ...(tag.length > 0 && { tags: tag }),
    ...(idPrefix !== undefined && { idPrefix }),
    ...(tenant !== undefined && { tenant }),
  };
}

type Scalar = string | number | boolean | null;

function memberOf(text: string): readonly [string, Scalar] {
  const [, key = '', sign, value = ''] = /^([^=]*?)(:?=)(.*)$/s.exec(text) ?? [];
  if (key === '') throw usageError(`"${text}" is not metadata.`, 'Write key=value, such as tenant=acme.');
  return [key, sign === '=' ? value : scalarOf(text, value)];
}

function scalarOf(text: string, json: string): Scalar {
  try {
    const value: unknown = JSON.parse(json);
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value as Scalar;
  } catch {
    // Not JSON: refused below.
  }
  throw usageError(
    `"${text}" has no JSON scalar.`,
    'Write key:=5, key:=true or key:=null; or key=text for a text.',
  );
}
