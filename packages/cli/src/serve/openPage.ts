import { spawn } from 'node:child_process';

/** What opens an address in the browser of this user. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** @param onFailure - Called where nothing can open it. */
export function openInBrowser(url: string, onFailure: (why: string) => void): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', (error) => onFailure(error.message));
  child.unref();
}
