'use strict';

// How a program of the tests starts: with what V8 has compiled of it in this run of the tests.
const { existsSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, resolve } = require('node:path');
const { fileURLToPath } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

/** As in the tests' own processes (vitest.config.ts): a program ends before what V8 optimises is of use. */
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=600000');

/** What Node.js exits with when a program waits for what never comes. */
const UNSETTLED = 13;

/**
 * @param {string} url - The program's: it finds files and packages by their place from here.
 * @param {string} scriptPath - Of what `asScript` has made, absolute or from the program's folder.
 * @param {string} program - Which of those in the script.
 * @param {(specifier: string) => Promise<object>} importHere
 */
module.exports = function startCompiled(url, scriptPath, program, importHere) {
  const filename = fileURLToPath(url);
  const script = resolve(dirname(filename), scriptPath);
  const cache = `${script}.${program}.cache`;
  const cachedData = readIfThere(cache);
  // ASCII alone, which V8 need not decode.
  const code = new Script(readFileSync(script, 'latin1'), { filename, cachedData });
  const ended = code.runInThisContext()(importHere, createRequire(url), url, program);
  ended.then(() => process.off('exit', unsettled));
  process.on('exit', unsettled);
  if (cachedData === undefined || code.cachedDataRejected === true) keep(code.createCachedData(), cache);
  process.once('exit', () => keepMore(code, cache));
};

function keep(compiled, cache) {
  const made = `${cache}.${process.pid}`;
  writeFileSync(made, compiled);
  renameSync(made, cache);
}

/** A process that took less of a processor has compiled little, ms. */
const MUCH_MS = 300;
/** What is less than so much more is not worth its writing. */
const MORE = 1.05;

/** At its end a process has compiled all that it ran; the next ones take that up, until one has little to add. */
function keepMore(code, cache) {
  const { user, system } = process.cpuUsage();
  const all = `${cache}.all`;
  try {
    if ((user + system) / 1000 < MUCH_MS || existsSync(all)) return;
    const compiled = code.createCachedData();
    if (compiled.length > MORE * statSync(cache).size) keep(compiled, cache);
    else writeFileSync(all, '');
  } catch {
    // Whoever ends later than the run of the tests finds no folder.
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function unsettled() {
  process.exitCode ??= UNSETTLED;
}
