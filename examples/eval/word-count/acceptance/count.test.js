import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../count.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'count-'));

function count(args, input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function countText(text) {
  const file = join(folder, 'text');
  writeFileSync(file, text);
  return count([file]).stdout.replace(` ${file}\n`, '');
}

it('counts lines, words and characters', () => assert.equal(countText('one two\nthree\n'), '2 3 14'));
it('counts a last line without a line feed', () => assert.equal(countText('one\ntwo'), '2 2 7'));
it('counts nothing in an empty file', () => assert.equal(countText(''), '0 0 0'));
it('separates words by any white space', () => assert.equal(countText(' a\t b\u00a0c \n\n'), '2 3 10'));
it('counts code points', () => assert.equal(countText('né 👩‍💻\n'), '1 2 7'));
it('reads standard input', () => assert.equal(count(['-'], 'a b\n').stdout, '1 2 4 -\n'));

it('says which file cannot be read', () => {
  const { status, stdout, stderr } = count([join(folder, 'none')]);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^count: .*none.*\n$/);
});

for (const args of [[], ['a', 'b']]) {
  it(`explains its use for ${args.length} arguments`, () => {
    const { status, stderr } = count(args);
    assert.equal(status, 2);
    assert.match(stderr, /^usage: /);
  });
}
