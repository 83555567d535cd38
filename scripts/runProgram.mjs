import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Runs a program to its end. @returns its standard output; an error has all of its output */
export async function run([file, ...args], { cwd, env = process.env }) {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (end !== 0) throw new Error(`${[file, ...args].join(' ')}: ${end}\n${stdout}${stderr}`);
  return stdout;
}
