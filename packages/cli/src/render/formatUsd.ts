/** What was spent is never shown as nothing. */
export function formatUsd(amount: number): string {
  const isSmall = amount > 0 && amount < 0.01;
  return isSmall && amount < 0.0001 ? 'less than $0.0001' : `$${amount.toFixed(isSmall ? 4 : 2)}`;
}
