'use strict';

// How a program of the tests starts: with what V8 has compiled of it when it was started first in this run of the tests.
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, resolve } = require('node:path');
const { fileURLToPath } = require('node:url');
const { Script } = require('node:vm');

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
  if (cachedData !== undefined && code.cachedDataRejected !== true) return;
  const made = `${cache}.${process.pid}`;
  writeFileSync(made, code.createCachedData());
  renameSync(made, cache);
};

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
