#!/usr/bin/env node
import nodeModule from 'node:module';
import process from 'node:process';
import { compileCacheIn } from './config/userStateFolder.ts';

// Before the rest is compiled. In the user's own folder, which commands of agents cannot write; Node.js before 22.1 has none.
const cache = compileCacheIn(process.env);
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown };
if (cache !== null) enableCompileCache?.(cache);
const { runProcess } = await import('./runProcess.ts');
process.exitCode = await runProcess(process);
