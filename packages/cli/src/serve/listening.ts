// A page on a port of this machine, and the link to it.

import type { serveOnLoopback } from '@devs/ui';
import type { Session } from '../project/Session.ts';
import { usageError } from '../usageError.ts';

/** Past the masks of every other output: the code is made to be read, and looks like the secret that it is. */
export function printLink(
  link: { readonly url: string; readonly readOnly: boolean },
  { io, out }: Session,
): void {
  io.stdout.write(out.json ? `${JSON.stringify(link)}\n` : `${link.url}\n`);
}

/** @throws DevsError `CONFIG_INVALID` for a wanted port that cannot be used; the usual one is replaced by a free one. */
export async function startListening(
  { wanted, usual }: { readonly wanted: number | null; readonly usual: number },
  serve: (port: number) => ReturnType<typeof serveOnLoopback>,
): ReturnType<typeof serveOnLoopback> {
  try {
    return await serve(wanted ?? usual);
  } catch (error) {
    if (wanted === null) return serve(0);
    const remedy = 'Use another port, or remove --port.';
    throw usageError(`Cannot use port ${wanted}: ${(error as Error).message}`, remedy, error);
  }
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is not a port.`, 'Use a number from 1 to 65535, or 0 for any free port.');
}
