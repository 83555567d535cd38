#!/usr/bin/env node
// devs-mcp --dir DIR: stdout carries the protocol and nothing else; words for people go to stderr.
import { parseArgs } from 'node:util';
import { OrchestratorServer } from './OrchestratorServer.ts';
import { type ErrorView, renderError } from './renderError.ts';

const USAGE = `Usage: devs-mcp --dir DIR

Shows the runs in DIR (the engine's folder, usually .devs) to an MCP client over stdio. Reads only.
`;
const USAGE_ERROR = 2;

function main(): void {
  const { dir, help } = readArguments();
  if (dir === undefined || help === true) {
    process.stderr.write(USAGE);
    process.exitCode = help === true ? 0 : USAGE_ERROR;
    return;
  }
  new OrchestratorServer({ dir, onRefused: report }).serveStdio();
}

/** Arguments that cannot be read count as none. */
function readArguments(): { readonly dir?: string | undefined; readonly help?: boolean | undefined } {
  try {
    return parseArgs({ options: { dir: { type: 'string' }, help: { type: 'boolean' } } }).values;
  } catch {
    return {};
  }
}

function report({ code, message, remedy }: ErrorView): void {
  process.stderr.write(`devs-mcp: ${code}: ${message} ${remedy}\n`);
}

try {
  main();
} catch (error) {
  report(renderError(error));
  process.exitCode = 1;
}
