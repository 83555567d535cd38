/** Whether a text has whole characters only: half of one becomes U+FFFD in UTF-8. Node.js 20 has the method, the types of ES2022 do not. */
export const isWellFormed = (text: string): boolean =>
  (text as string & { isWellFormed(): boolean }).isWellFormed();
