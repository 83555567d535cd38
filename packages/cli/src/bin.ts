#!/usr/bin/env node
import process from 'node:process';
import { EXIT } from './exitCodes.ts';
import { main } from './main.ts';
import { processIo } from './terminal/processIo.ts';

const io = processIo(process);
const exitCode = await main(process.argv.slice(2), io);
process.exitCode = io.abort.aborted ? EXIT.interrupted : exitCode;
