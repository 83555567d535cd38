import { readdirSync, readFileSync } from 'node:fs';

/** Of clock ticks in `/proc`, ms. */
const TICK_MS = 10;

/** Processor time of a server and all processes it has started, those that have ended too, ms. Linux alone. */
export function serverCpuMs(port: number): number {
  const server = postmasterOf(port);
  const ticks = statOf(server).slice(11, 15); // its own, and that of its children that have ended
  const ended = ticks.reduce((sum, each) => sum + Number(each), 0) * TICK_MS;
  return ended + childrenOf(server).reduce((sum, pid) => sum + onProcessorMs(pid), 0);
}

function postmasterOf(port: number): string {
  const found = processes().find((pid) => {
    const args = textOf(pid, 'cmdline').split('\0');
    return args[0]?.endsWith('postgres') === true && args.includes(String(port));
  });
  if (found === undefined) throw new Error(`No server has port ${port}.`);
  return found;
}

const childrenOf = (server: string): readonly string[] =>
  processes().filter((pid) => statOf(pid)[1] === server);

const onProcessorMs = (pid: string): number => Number(textOf(pid, 'schedstat').split(' ')[0] ?? 0) / 1e6;

const processes = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

/** The fields after the name, from the state on. */
const statOf = (pid: string): readonly string[] =>
  textOf(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ');

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
