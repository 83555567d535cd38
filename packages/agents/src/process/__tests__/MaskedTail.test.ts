import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MaskedTail, TailBuffer } from '../MaskedTail.ts';

describe('TailBuffer', () => {
  it('keeps exactly the last bytes, however they arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.integer({ min: 1, max: 50 }),
        (chunks, limit) => {
          const tail = new TailBuffer(limit);
          for (const chunk of chunks) tail.push(Buffer.from(chunk));
          const all = Buffer.concat(chunks);
          expect(tail.truncated).toBe(all.length > limit);
          expect(tail.toString()).toBe(all.subarray(-limit).toString('utf8'));
          expect(tail.truncated).toBe(all.length > limit);
        },
      ),
    );
  });
});

describe('MaskedTail', () => {
  it('never shows a part of a secret, wherever the limit cuts', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    for (let after = 0; after <= 4_300; after += 7) {
      const tail = new MaskedTail(200);
      tail.push(Buffer.from(`${'.'.repeat(300)} ${token} ${'.'.repeat(after)}`));
      expect(tail.toString()).not.toContain('a1B2');
    }
  });

  it('never shows the rest of a key that the limit cuts through', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${`${'Zq7'.repeat(20)}\n`.repeat(150)}-----END PRIVATE KEY-----\n`;
    for (const after of [60_000, 62_000, 64_000, 65_000, 66_000, 68_000, 70_000, 75_000]) {
      const tail = new MaskedTail(200);
      tail.push(Buffer.from(`${'.'.repeat(300)}\n${key}${'line of output\n'.repeat(after / 15)}`));
      expect(tail.toString()).not.toContain('Zq7');
      expect(tail.toString()).toContain('line of output');
    }
  });

  it('begins at a whole character', () => {
    const tail = new MaskedTail(10);
    tail.push(Buffer.from('ä€𝄞'.repeat(2_000)));
    expect(tail.toString()).not.toContain('\ufffd');
  });
});
