import assert from 'node:assert/strict';
import { it } from 'node:test';
import { csvTable } from '../csvTable.js';

it('makes a table', () => assert.equal(csvTable('a,b\n1,2\n'), '| a | b |\n| --- | --- |\n| 1 | 2 |\n'));
it('needs no line feed at the end', () => assert.equal(csvTable('a\n1'), '| a |\n| --- |\n| 1 |\n'));
it('reads CRLF', () => assert.equal(csvTable('a\r\n1\r\n'), '| a |\n| --- |\n| 1 |\n'));
it('reads quotes', () =>
  assert.equal(
    csvTable('a,b\n"x,y","he said ""no"""\n'),
    '| a | b |\n| --- | --- |\n| x,y | he said "no" |\n',
  ));
it('writes what a table cannot hold', () =>
  assert.equal(csvTable('a\n"1|2\n3"\n'), '| a |\n| --- |\n| 1\\|2<br>3 |\n'));
it('fills up', () => assert.equal(csvTable('a,b\n1\n'), '| a | b |\n| --- | --- |\n| 1 |  |\n'));
it('keeps empty fields', () => assert.equal(csvTable('a,b\n,\n'), '| a | b |\n| --- | --- |\n|  |  |\n'));
it('makes nothing of nothing', () => assert.equal(csvTable(''), ''));

for (const [text, record] of [
  ['a\n1,2\n', 2],
  ['a\n1\n"x\n', 3],
  ['a\n"1"2\n', 2],
]) {
  it(`refuses ${JSON.stringify(text)}`, () =>
    assert.throws(
      () => csvTable(text),
      (error) => error instanceof SyntaxError && error.message.includes(`${record}`),
    ));
}
