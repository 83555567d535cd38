import type { StartOptions, TaskRequest } from '@devs/core';
import { type Command, Option } from 'commander';
import { usageError } from '../usageError.ts';

export interface QuickFlags {
  readonly quick?: true;
  readonly kind?: NonNullable<TaskRequest['task']['kind']>;
  readonly checkedBy?: string;
}

const KINDS: readonly NonNullable<TaskRequest['task']['kind']>[] = [
  'test-first',
  'behaviour-kept',
  'checked-by',
];

export function addQuickOptions(command: Command): Command {
  return command
    .option('--quick', 'small job: one task, no design or plan to approve; you review the code')
    .addOption(
      new Option('--kind <kind>', 'with --quick: how the work is verified (default: test-first)').choices(
        KINDS,
      ),
    )
    .option('--checked-by <command>', 'with --quick --kind checked-by: a command (no shell), or review');
}

/** @throws DevsError `CONFIG_INVALID` for flags of small work without `--quick`, or that do not fit each other. */
export function quickFrom({
  quick,
  kind,
  checkedBy,
}: QuickFlags): NonNullable<StartOptions['quick']> | undefined {
  if (!quick && (kind !== undefined || checkedBy !== undefined)) {
    throw usageError('--kind and --checked-by need --quick.', 'Add --quick, or remove them.');
  }
  if ((kind === 'checked-by') !== (checkedBy !== undefined)) {
    throw usageError(
      '--kind checked-by and --checked-by need each other.',
      "Use --kind checked-by --checked-by 'tsc --noEmit', or --checked-by review.",
    );
  }
  if (!quick) return undefined;
  return { ...(kind !== undefined && { kind }), ...(checkedBy !== undefined && { checkedBy }) };
}
