import { cp, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** How a way to the network is configured in most places; certificates of a company are among it. */
export const NETWORK_ENV = [
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
] as const;

/**
 * Brings how a tool is logged in into a home of its own. Copies: it may write to them, and yours stay as they are.
 *
 * @param paths - Below your home; a missing one is none.
 */
export async function copyLogin(home: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const target = join(home, path);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(homedir(), path), target, { recursive: true }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
