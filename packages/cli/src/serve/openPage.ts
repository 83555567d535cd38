import { spawn } from 'node:child_process';

/** Programs that open an address in the user's browser. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** @param onFailure - Called if the browser cannot be opened. */
export function openInBrowser(url: string, onFailure: (why: string) => void): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', (error) => onFailure(error.message));
  child.unref();
}
