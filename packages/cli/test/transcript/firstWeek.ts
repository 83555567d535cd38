import { edits, type Hands, says } from './Hand.ts';

const SETUP = `"setup": [
    "pnpm",
    "install",
    "--frozen-lockfile"
  ],
  `;

/** The whole list of a check's program and arguments. */
const PNPM_TEST = `"pnpm",
        "run",
        "test"`;

const MAIL_TASK = `      - task: T3
        name: Send the receipt by mail
        description: Write send(receipt, address) in packages/cart.
        after:
          - T2
        requirements:
          - REQ-2
        criteria:
          - a mail is sent
`;

/** What is done in the first week beside typing. */
export const FIRST_WEEK: Hands = {
  '$EDITOR .devs/config.json': [edits([SETUP, ''], [PNPM_TEST, '"node", "--test"'])],
  'devs trust': [says('yes')],
  'devs edit receipts': [
    edits([
      'An amount with a fraction of a cent is rounded.',
      'Amounts are whole cents; refunds are negative.',
    ]),
    edits([MAIL_TASK, '']),
  ],
  'devs resume receipts': [null, null, { kind: 'kills', during: 'format.js' }],
};
