import type { WorkspacePort } from '@devs/core/internal';

/** What became of the run's branch in the user's repository. */
export function formatDelivery({ branch, held }: WorkspacePort.Delivery): string {
  if (held === null) return `branch ${branch} in your repository is up to date`;
  const why = held === 'checked_out' ? 'you have it checked out' : 'it has your own commits';
  return `branch ${branch} in your repository was not updated: ${why}`;
}
